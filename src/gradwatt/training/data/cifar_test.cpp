#include "gradwatt/training/data/cifar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gradwatt/training/data/memory_images.hpp"
#include "tests/doubles/made_tree.hpp"

namespace gradwatt::training {
namespace {

using testing::HasSubstr;

std::string record(char label, char pixel) { return label + std::string(3072, pixel); }

TEST(Cifar, ReadsTheFiveTrainingFilesInOrder) {
  doubles::MadeTree tree;
  for (char i = 1; i <= 5; ++i)
    tree.bytes("data_batch_" + std::to_string(i) + ".bin", record(i, static_cast<char>(i * 10)) + record(0, 1));
  const auto images = read_cifar(tree.path(""), true).value();
  EXPECT_EQ(images.labels, (std::vector<std::uint8_t>{1, 0, 2, 0, 3, 0, 4, 0, 5, 0}));
  EXPECT_EQ(images.pixels.size(), 10U * 3072U);
  EXPECT_EQ(images.pixels[2 * 3072], 20);
}

TEST(Cifar, GivesNormalisedImagesThroughTheDataSet) {
  doubles::MadeTree tree;
  tree.bytes("test_batch.bin", record(7, '\x66'));
  const MemoryImages data(read_cifar(tree.path(""), false).value(), kCifarClasses, {}, {{0.4F, 0, 0}, {0.5F, 1, 1}},
                          false);
  ExampleRandom random(0);
  std::vector<float> planes(3072);
  std::int64_t label = -1;
  ASSERT_TRUE(data.fill(0, random, {planes, &label}));
  EXPECT_EQ(label, 7);
  EXPECT_NEAR(planes[0], 0.0, 1e-6);
  EXPECT_NEAR(planes[3071], 0.4, 1e-6);
}

TEST(Cifar, NamesTheFileThatIsMissingCutOrForeign) {
  doubles::MadeTree tree;
  const auto message = [&] { return read_cifar(tree.path(""), false).error().message; };
  EXPECT_THAT(message(), HasSubstr("test_batch.bin"));
  tree.bytes("test_batch.bin", record(1, 2).substr(1));
  EXPECT_THAT(message(), HasSubstr("no whole number"));
  tree.bytes("test_batch.bin", record(10, 2));
  EXPECT_THAT(message(), HasSubstr("label 10"));
}

}  // namespace
}  // namespace gradwatt::training
