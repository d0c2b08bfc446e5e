#include "gradwatt/training/data/crops.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradwatt::training {
namespace {

TEST(RandomCrop, StaysInsideTheImageAndItsLimits) {
  const ImageSize image{500, 375};
  ExampleRandom random(1);
  double area = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const auto box = random_crop(image, {}, random);
    ASSERT_GE(box.left, 0);
    ASSERT_GE(box.top, 0);
    ASSERT_LE(box.left + box.width, image.width);
    ASSERT_LE(box.top + box.height, image.height);
    ASSERT_NEAR(box.width / box.height, 1.0, 0.35);
    area += box.width * box.height / (image.width * image.height);
  }
  // Large crops are refused more often, because they do not fit: torchvision's choice has this mean for this size
  // (20 000 draws, 0.436).
  EXPECT_NEAR(area / kDraws, 0.436, 0.006);
}

TEST(RandomCrop, TakesTheCentreOfAnImageThatNoCropFits) {
  ExampleRandom random(1);
  const auto box = random_crop({1000, 10}, {.area_low = 0.9, .area_high = 1.0}, random);
  EXPECT_EQ(box.height, 10);
  EXPECT_EQ(box.width, 13);  // 4:3
  EXPECT_EQ(box.left, 493);
}

TEST(CentreCrop, CoversTheShareOfTheShorterSideThatTheRecipeSays) {
  const auto box = centre_crop({500, 375}, 256, 224);
  EXPECT_NEAR(box.height, 375.0 * 224 / 256, 1e-9);
  EXPECT_NEAR(box.top, 375.0 * 16 / 256, 1e-9);
  // The longer side is 341 pixels after the resize, its centre begins at round(58.5) = 58.
  EXPECT_NEAR(box.left, 58 * 500.0 / 341, 1e-9);
  EXPECT_NEAR(box.width, 224 * 500.0 / 341, 1e-9);
}

}  // namespace
}  // namespace gradwatt::training
