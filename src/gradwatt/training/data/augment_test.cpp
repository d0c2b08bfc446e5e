#include "gradwatt/training/data/augment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace gradwatt::training {
namespace {

const ChannelStatistics kPlain{{0.0F}, {1.0F}};

std::vector<std::uint8_t> counted(int pixels) {
  std::vector<std::uint8_t> image(static_cast<std::size_t>(pixels));
  std::iota(image.begin(), image.end(), std::uint8_t{1});
  return image;
}

std::vector<float> applied(const Augmenter& augmenter, const std::vector<std::uint8_t>& image, std::uint64_t seed = 0) {
  const auto& shape = augmenter.output();
  std::vector<float> planes(static_cast<std::size_t>(shape.channels * shape.height * shape.width), -9.0F);
  ExampleRandom random(seed);
  augmenter.apply(image, random, planes);
  for (auto& value : planes) value *= 255;
  return planes;
}

TEST(Augmenter, PadsAndNormalisesForEvaluation) {
  const Augmenter augmenter({1, 2, 2}, {.canvas = 4}, {{0.5F}, {0.25F}}, false);
  std::vector<float> planes(16);
  ExampleRandom random(0);
  augmenter.apply(std::vector<std::uint8_t>{255, 0, 51, 102}, random, planes);
  EXPECT_NEAR(planes[5], 2.0, 1e-6);
  EXPECT_NEAR(planes[6], -2.0, 1e-6);
  EXPECT_NEAR(planes[9], -1.2, 1e-6);
  EXPECT_NEAR(planes[0], -2.0, 1e-6);  // the canvas is black
}

TEST(Augmenter, MovesTheImageByEveryOffsetUpToTheLimit) {
  const Augmenter augmenter({1, 3, 3}, {.shift_pixels = 1, .mirror_probability = 0}, kPlain, true);
  std::set<std::vector<float>> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto planes = applied(augmenter, counted(9), seed);
    EXPECT_NEAR(planes[4], std::clamp(planes[4], 1.0F, 9.0F), 1e-4);
    for (auto& value : planes) value = std::round(value);
    seen.insert(planes);
  }
  EXPECT_EQ(seen.size(), 9U);
  EXPECT_TRUE(seen.contains({0, 0, 0, 1, 2, 3, 4, 5, 6}));  // one down
  EXPECT_TRUE(seen.contains({2, 3, 0, 5, 6, 0, 8, 9, 0}));  // one left
}

TEST(Augmenter, MirrorsEveryChannelTheSameWay) {
  const Augmenter augmenter({2, 1, 3}, {.shift_pixels = 0, .mirror_probability = 1}, {{0, 0}, {1, 1}}, true);
  const auto planes = applied(augmenter, counted(6));
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(planes[i], (std::vector<int>{3, 2, 1, 6, 5, 4})[i], 1e-4);
}

TEST(Augmenter, MirrorsAMovedImageOnItsNewPlace) {
  const Augmenter augmenter({1, 1, 3}, {.canvas = 7, .shift_pixels = 0, .mirror_probability = 1}, kPlain, true);
  const auto planes = applied(augmenter, counted(3));
  for (std::size_t x = 0; x < 3; ++x) EXPECT_NEAR(planes[3 * 7 + 2 + x], static_cast<float>(3 - x), 1e-4);
}

TEST(Augmenter, ErasesOneRectangleOfAllChannels) {
  const Augmenter augmenter({2, 16, 16}, {.shift_pixels = 0, .mirror_probability = 0, .erase_probability = 1},
                            {{0, 0}, {1, 1}}, true);
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto planes = applied(augmenter, std::vector<std::uint8_t>(512, 200), seed);
    const auto erased = std::count(planes.begin(), planes.begin() + 256, 0.0F);
    EXPECT_GT(erased, 0);
    EXPECT_LE(erased, 85);  // a third of the area
    EXPECT_TRUE(std::equal(planes.begin(), planes.begin() + 256, planes.begin() + 256));
  }
}

TEST(Augmenter, DrawsNothingForEvaluation) {
  const Augmenter augmenter({1, 4, 4}, {.erase_probability = 1}, kPlain, false);
  EXPECT_EQ(applied(augmenter, counted(16), 1), applied(augmenter, counted(16), 2));
}

}  // namespace
}  // namespace gradwatt::training
