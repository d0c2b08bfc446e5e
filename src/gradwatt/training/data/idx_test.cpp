#include "gradwatt/training/data/idx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <string>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::training {
namespace {

using testing::HasSubstr;

std::string header(std::initializer_list<int> dimensions) {
  std::string text{'\0', '\0', '\x08', static_cast<char>(dimensions.size())};
  for (const int d : dimensions)
    text += {static_cast<char>(d >> 24), static_cast<char>(d >> 16), static_cast<char>(d >> 8), static_cast<char>(d)};
  return text;
}

void write_gz(const std::filesystem::path& path, const std::string& content) {
  auto* const file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
}

class IdxTest : public testing::Test {
 protected:
  std::string error(const std::string& name) { return read_idx(tree_.path(name)).error().message; }
  doubles::MadeTree tree_;
};

TEST_F(IdxTest, ReadsPlainAndCompressedFilesAlike) {
  const auto content = header({2, 1, 3}) + "abcdef";
  tree_.bytes("plain", content);
  write_gz(tree_.path("packed.gz"), content);
  for (const auto* name : {"plain", "packed.gz"}) {
    const auto array = read_idx(tree_.path(name)).value();
    EXPECT_EQ(array.dimensions, (std::vector<std::size_t>{2, 1, 3}));
    EXPECT_EQ(std::string(array.bytes.begin(), array.bytes.end()), "abcdef");
  }
}

TEST_F(IdxTest, RefusesTruncatedAndDamagedFiles) {
  tree_.bytes("short", header({2, 1, 3}) + "abc");
  EXPECT_THAT(error("short"), HasSubstr("ends too early"));
  tree_.bytes("tiny", "ab");
  EXPECT_THAT(error("tiny"), HasSubstr("ends too early"));
  std::string noise(5000, 0);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * i * 31 % 251);
  write_gz(tree_.path("whole.gz"), header({5000}) + noise);
  std::ifstream stream(tree_.path("whole.gz"), std::ios::binary);
  std::string packed{std::istreambuf_iterator<char>(stream), {}};
  tree_.bytes("cut.gz", packed.substr(0, packed.size() / 2));
  EXPECT_THAT(error("cut.gz"), HasSubstr("ends too early"));
  packed[packed.size() / 2] = static_cast<char>(~packed[packed.size() / 2]);
  packed[packed.size() / 2 + 1] = static_cast<char>(~packed[packed.size() / 2 + 1]);
  tree_.bytes("damaged.gz", packed);
  EXPECT_THAT(error("damaged.gz"), HasSubstr("fetch it again"));
}

TEST_F(IdxTest, RefusesAnotherFormat) {
  tree_.bytes("text", "P5 28 28 255 ");
  EXPECT_THAT(error("text"), HasSubstr("no IDX file"));
  tree_.bytes("floats", std::string{'\0', '\0', '\x0D', '\x01', 0, 0, 0, 1, 0, 0, 0, 0});
  EXPECT_THAT(error("floats"), HasSubstr("0d"));
  tree_.bytes("huge", header({1 << 30, 1 << 30}));
  EXPECT_THAT(error("huge"), HasSubstr("damaged"));
  EXPECT_THAT(error("nowhere"), HasSubstr("nowhere"));
}

TEST_F(IdxTest, ComesBackFromAnyDamage) {
  write_gz(tree_.path("good.gz"), header({40, 5, 5}) + std::string(1000, 'x') + "0123456789");
  std::ifstream stream(tree_.path("good.gz"), std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(stream), {}};
  const auto plain = header({4, 5, 5}) + std::string(100, 'x');
  for (const auto& whole : {good, plain}) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      auto damaged = whole;
      damaged[at] = static_cast<char>(~damaged[at]);
      tree_.bytes("damaged", damaged);
      const auto array = read_idx(tree_.path("damaged"));
      if (!array) {
        EXPECT_THAT(array.error().message, HasSubstr("damaged"));  // the file's name
      }
    }
  }
}

TEST_F(IdxTest, RefusesLabelsOfOtherImages) {
  tree_.bytes("train-images-idx3-ubyte", header({2, 1, 1}) + "ab");
  tree_.bytes("train-labels-idx1-ubyte", header({3}) + "abc");
  EXPECT_THAT(read_idx_images(tree_.path(""), "train").error().message, HasSubstr("do not belong together"));
}

TEST(FashionMnist, HasTheImagesAndStatisticsThatTheRecipesAssume) {
  const std::filesystem::path folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the Debian package dataset-fashion-mnist is not installed";
  const auto images = read_idx_images(folder, "train").value();
  ASSERT_EQ(images.labels.size(), 60'000U);
  EXPECT_EQ(images.shape.height, 28);
  std::vector<int> each(10);
  for (const auto label : images.labels) ++each.at(label);
  EXPECT_THAT(each, testing::Each(6000));
  double sum = 0, squares = 0;
  for (const auto value : images.pixels) {
    sum += value / 255.0;
    squares += value / 255.0 * value / 255.0;
  }
  const double mean = sum / static_cast<double>(images.pixels.size());
  EXPECT_NEAR(mean, 0.2860, 5e-5);
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(images.pixels.size()) - mean * mean), 0.3530, 5e-5);
}

}  // namespace
}  // namespace gradwatt::training
