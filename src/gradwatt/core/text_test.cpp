#include "gradwatt/core/text.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gradwatt::core {
namespace {

using namespace std::chrono_literals;

TEST(Text, NearestFindsWhatAMistypedWordMeant) {
  constexpr std::array<std::string_view, 3> verbs{"run", "report", "doctor"};
  EXPECT_EQ(nearest("reprot", verbs), "report");
  EXPECT_EQ(nearest("rnu", verbs), "run");
  EXPECT_EQ(nearest("ru", verbs), "run");
  EXPECT_EQ(nearest("xylophone", verbs), std::nullopt);
}

TEST(Text, DurationsAreReadWithAndWithoutUnit) {
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("1.5m"), 90s);
  EXPECT_EQ(parse_duration("2h"), 2h);
  EXPECT_EQ(parse_duration("1"), 1s);
  EXPECT_EQ(parse_duration("-1s"), std::nullopt);
  EXPECT_EQ(parse_duration("soon"), std::nullopt);
}

TEST(Text, DurationsAreShownForPeople) {
  EXPECT_EQ(format_duration(12ms), "12.0 ms");
  EXPECT_EQ(format_duration(4200ms), "4.20 s");
  EXPECT_EQ(format_duration(245s), "4 min 05 s");
  EXPECT_EQ(format_duration(3h + 7min), "3 h 07 min");
}

TEST(Text, NumbersGetThreeDigitsAndAPrefix) {
  EXPECT_EQ(format_si(1234, "W"), "1.23 kW");
  EXPECT_EQ(format_si(0.0042, "J"), "4.20 mJ");
  EXPECT_EQ(format_si(0, "W"), "0 W");
  EXPECT_EQ(format_si(99.96, "W"), "100 W");
}

TEST(Text, WallTimesAreIso8601) {
  EXPECT_EQ(format_utc(std::chrono::sys_time<std::chrono::nanoseconds>(1500ms)), "1970-01-01T00:00:01.500Z");
}

TEST(Text, CsvCellsAreQuotedWhereNeeded) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"x\""), "\"say \"\"x\"\"\"");
}

TEST(Text, SplitKeepsEmptyPiecesAndWordsDoNot) {
  EXPECT_EQ(split("a,,b", ',').size(), 3U);
  EXPECT_EQ(split_words("  a  b ").size(), 2U);
}

}  // namespace
}  // namespace gradwatt::core
