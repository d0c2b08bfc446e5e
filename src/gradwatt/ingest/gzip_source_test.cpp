#include "gradwatt/ingest/gzip_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/doubles/made_gzip.hpp"

namespace gradwatt::ingest {
namespace {

using doubles::made_gzip;
using ::testing::HasSubstr;

class Packed final : public ByteSource {
 public:
  explicit Packed(std::string bytes) : bytes_(std::move(bytes)) {}
  std::optional<std::string_view> next(std::size_t most) override {
    const auto bytes = std::string_view(bytes_).substr(at_, std::min<std::size_t>(most, 100));
    at_ += bytes.size();
    return bytes;
  }
  void rewind() override { at_ = 0; }
  [[nodiscard]] std::string failure() const override { return {}; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

std::string read_all(GzipSource& source, std::size_t most = 1000) {
  std::string all;
  for (auto got = source.next(most); got && !got->empty(); got = source.next(most)) all += *got;
  return all;
}

std::string varied_text(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < bytes; ++i) text += std::to_string(i * 2654435761U);
  return text;
}

TEST(GzipSource, GivesBackTheTextAndGivesItAgain) {
  const auto text = varied_text(100'000);
  Packed packed(made_gzip(text));
  GzipSource source(packed);
  EXPECT_EQ(read_all(source), text);
  EXPECT_EQ(source.failure(), "");
  source.rewind();
  EXPECT_EQ(read_all(source, 1U << 20U), text);
}

TEST(GzipSource, ReadsMembersBehindEachOtherAsOneTextAndPassesOverPadding) {
  Packed packed(made_gzip("one ") + made_gzip("two") + std::string(64, '\0'));
  GzipSource source(packed);
  EXPECT_EQ(read_all(source), "one two");
  EXPECT_EQ(source.failure(), "");
}

TEST(GzipSource, GivesWhatLiesBeforeACutAndThenSaysSo) {
  const auto text = varied_text(100'000);
  const auto bytes = made_gzip(text);
  Packed packed(bytes.substr(0, bytes.size() / 2));
  GzipSource source(packed);
  const auto got = read_all(source);
  EXPECT_TRUE(text.starts_with(got));
  EXPECT_GT(got.size(), text.size() / 4);
  EXPECT_THAT(source.failure(), HasSubstr("cut off"));
}

TEST(GzipSource, SaysThatBytesAreDamaged) {
  auto bytes = made_gzip(varied_text(100'000));
  for (std::size_t i = bytes.size() / 2; i < bytes.size() / 2 + 50; ++i) bytes[i] = '\xFF';
  Packed packed(bytes);
  GzipSource source(packed);
  read_all(source);
  EXPECT_THAT(source.failure(), HasSubstr("damaged"));
}

TEST(GzipSource, StopsAtATextThatOnlyATrapInflatesTo) {
  Packed packed(made_gzip(std::string(std::size_t{200} << 20U, ' ')));
  GzipSource source(packed);
  std::uint64_t got = 0;
  for (auto piece = source.next(1U << 18U); piece && !piece->empty(); piece = source.next(1U << 18U))
    got += piece->size();
  EXPECT_THAT(source.failure(), HasSubstr("more than 200 times its size"));
  EXPECT_LT(got, GzipSource::kAlwaysAllowed + (std::uint64_t{1} << 20U));
}

}  // namespace
}  // namespace gradwatt::ingest
