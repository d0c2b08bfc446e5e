#include "gradwatt/ingest/line_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "tests/doubles/made_gzip.hpp"

namespace gradwatt::ingest {
namespace {

std::vector<std::string> lines_of(LineReader reader) {
  std::vector<std::string> lines;
  while (const auto line = reader.next()) lines.emplace_back(line->text);
  return lines;
}
using Lines = std::vector<std::string>;

std::string utf16(std::string_view text, bool little, bool mark) {
  std::string out = mark ? (little ? "\xFF\xFE" : "\xFE\xFF") : "";
  for (const char c : text) out += little ? std::string{c, '\0'} : std::string{'\0', c};
  return out;
}

TEST(LineReader, KeepsEmptyLinesAndTheUnendedLastOne) {
  EXPECT_EQ(lines_of(LineReader::from_text("a\n\nb")), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines_of(LineReader::from_text("a\n")), Lines{"a"});
  EXPECT_EQ(lines_of(LineReader::from_text("")), Lines{});
  auto reader = LineReader::from_text("a\nb");
  EXPECT_TRUE(reader.next()->ended);
  EXPECT_FALSE(reader.next()->ended);
}

TEST(LineReader, ReadsEveryEncodingThatShellsWrite) {
  const Lines expected{"power.draw [W]", "12.5 W"};
  constexpr std::string_view kText = "power.draw [W]\r\n12.5 W\r\n";
  EXPECT_EQ(lines_of(LineReader::from_text(std::string(kText))), expected);
  EXPECT_EQ(lines_of(LineReader::from_text("\xEF\xBB\xBF" + std::string(kText))), expected);
  for (const bool little : {true, false})
    for (const bool mark : {true, false})
      EXPECT_EQ(lines_of(LineReader::from_text(utf16(kText, little, mark))), expected) << little << mark;
  EXPECT_EQ(lines_of(LineReader::from_text("power.draw [W]\r12.5 W\r")), expected);
}

TEST(LineReader, ReadsWhatGzipPacked) {
  EXPECT_EQ(lines_of(LineReader::from_text(doubles::made_gzip("a\r\nb\n"))), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of(LineReader::from_text(doubles::made_gzip(utf16("a\nb\n", true, true)))), (Lines{"a", "b"}));
  auto reader = LineReader::from_text(doubles::made_gzip("power.draw [W]\n"));
  EXPECT_EQ(reader.head(), "power.draw [W]\n");
  EXPECT_EQ(reader.whole(100).value(), "power.draw [W]\n");
}

TEST(LineReader, SaysThatPackedBytesAreDamaged) {
  const auto reader = LineReader::from_text("\x1f\x8b garbage");
  EXPECT_EQ(reader.head(), "");
  EXPECT_THAT(reader.failure().value_or(""), ::testing::HasSubstr("damaged"));
}

TEST(LineReader, APackedFileThatIsCutOffEndsWithTheReason) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919) + "\n";
  const auto packed = doubles::made_gzip(text);
  auto reader = LineReader::from_text(packed.substr(0, packed.size() / 2));
  std::size_t lines = 0;
  while (reader.next()) ++lines;
  EXPECT_GT(lines, 1000U);
  EXPECT_TRUE(reader.is_packed());
  EXPECT_THAT(reader.failure().value_or(""), ::testing::HasSubstr("cut off"));
}

TEST(LineReader, DecodesSurrogatePairsAndKeepsGoingAfterBrokenOnes) {
  const std::string text(
      "\xFF\xFE\x3D\xD8\x00\xDE\x3D\xD8"
      "a\0",
      10);
  EXPECT_EQ(lines_of(LineReader::from_text(text)), Lines{"\xF0\x9F\x98\x80\xEF\xBF\xBD"
                                                         "a"});
}

TEST(LineReader, TakesOutNulsAndSaysSo) {
  auto reader = LineReader::from_text(std::string("12.5\0\0 W\nok\n", 12));
  const auto first = reader.next();
  EXPECT_EQ(first->text, "12.5 W");
  EXPECT_TRUE(first->had_nul);
  EXPECT_FALSE(reader.next()->had_nul);
}

TEST(LineReader, PassesOverALineOfManyMegabytesInLittleMemory) {
  auto reader = LineReader::from_text("a\n" + std::string(kMaxLineBytes * 5, 'x') + "\nb\n");
  EXPECT_EQ(reader.next()->text, "a");
  const auto giant = reader.next();
  EXPECT_TRUE(giant->too_long);
  EXPECT_LE(giant->text.size(), 256U);
  EXPECT_EQ(giant->number, 2U);
  const auto after = reader.next();
  EXPECT_EQ(after->text, "b");
  EXPECT_EQ(after->number, 3U);
  EXPECT_FALSE(reader.next());
}

TEST(LineReader, StartsAgainAfterRewind) {
  auto reader = LineReader::from_text(
      "\xEF\xBB\xBF"
      "a\nb\n");
  while (reader.next()) {
  }
  reader.rewind();
  EXPECT_EQ(reader.next()->text, "a");
}

TEST(LineReader, ReadsAPipeTwice) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "a\nb\n", 4), 4);
  ::close(ends[1]);
  auto reader = LineReader::open("/dev/fd/" + std::to_string(ends[0]));
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(reader->next()->text, "a");
  reader->rewind();
  EXPECT_EQ(reader->next()->text, "a");
  ::close(ends[0]);
}

TEST(LineReader, RefusesWhatIsNoFile) {
  EXPECT_EQ(LineReader::open("/nonexistent/power.csv").error().code, core::Errc::not_found);
  EXPECT_EQ(LineReader::open("/").error().code, core::Errc::unusable_input);
}

}  // namespace
}  // namespace gradwatt::ingest
