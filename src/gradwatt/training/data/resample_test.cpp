#include "gradwatt/training/data/resample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace gradwatt::training {
namespace {

constexpr ColourStatistics kPlain{{0, 0, 0}, {1, 1, 1}};

Pixels image(int width, int height, const std::function<int(int, int, int)>& value) {
  Pixels pixels{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 4; ++c) pixels.rgbx.push_back(static_cast<std::uint8_t>(value(x, y, c)));
    }
  }
  return pixels;
}

std::vector<float> resampled(const Pixels& source, Box box, Box bounds, Resampler::Target target) {
  std::vector<float> planes(static_cast<std::size_t>(3 * target.size.width * target.size.height), NAN);
  Resampler().resample(source, box, bounds, target, planes);
  return planes;
}

std::vector<float> resampled(const Pixels& source, Box box, Resampler::Target target) {
  return resampled(source, box, box, target);
}

TEST(Resampler, CopiesPixelsWhenNothingIsResized) {
  const auto source = image(7, 5, [](int x, int y, int c) { return x * 30 + y * 3 + c; });
  const auto planes = resampled(source, {2, 1, 4, 3}, {{4, 3}, false, kPlain});
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 4; ++x) {
        EXPECT_NEAR(planes[static_cast<std::size_t>(c * 12 + y * 4 + x)], ((x + 2) * 30 + (y + 1) * 3 + c) / 255.0,
                    1e-6);
      }
    }
  }
}

TEST(Resampler, MirrorsAndNormalises) {
  const auto source = image(2, 1, [](int x, int, int c) { return x == 0 ? 255 : c == 0 ? 51 : 0; });
  const auto planes = resampled(source, {0, 0, 2, 1}, {{2, 1}, true, {{0.5F, 0.1F, 0}, {0.5F, 2, 1}}});
  EXPECT_NEAR(planes[0], -0.6, 1e-6);  // red of the right pixel
  EXPECT_NEAR(planes[1], 1.0, 1e-6);
  EXPECT_NEAR(planes[3], 0.45, 1e-6);  // green of the left one
}

TEST(Resampler, KeepsARampARampAtAnyScale) {
  constexpr double kGreyLevels = 0.25;  // a cut triangle is not exactly symmetric about its middle
  const auto source = image(64, 48, [](int x, int y, int c) { return c == 0 ? x * 3 : y * 3; });
  for (const auto& size : {ImageSize{64, 48}, ImageSize{20, 30}, ImageSize{100, 90}}) {
    const auto planes = resampled(source, {0, 0, 64, 48}, {size, false, kPlain});
    const double across = 64.0 / size.width, down = 48.0 / size.height;
    // Away from the border, where the filter is cut off.
    const int x = size.width / 2, y = size.height / 2;
    const auto at = static_cast<std::size_t>(y * size.width + x);
    EXPECT_NEAR(planes[at] * 255, ((x + 0.5) * across - 0.5) * 3, kGreyLevels);
    EXPECT_NEAR(planes[at + static_cast<std::size_t>(size.width * size.height)] * 255, ((y + 0.5) * down - 0.5) * 3,
                kGreyLevels);
  }
}

TEST(Resampler, AveragesFineStripesInsteadOfAliasingThem) {
  const auto source = image(256, 8, [](int x, int, int) { return x % 2 == 0 ? 0 : 200; });
  const auto planes = resampled(source, {0, 0, 256, 8}, {{51, 8}, false, kPlain});
  for (std::size_t x = 1; x < 50; ++x) EXPECT_NEAR(planes[x] * 255, 100, 6);
}

TEST(Resampler, ReadsNothingOutsideItsBounds) {
  const auto source =
      image(40, 40, [](int x, int y, int) { return x >= 10 && x < 30 && y >= 10 && y < 30 ? 100 : 255; });
  for (const float value : resampled(source, {10, 10, 20, 20}, {{7, 33}, false, kPlain})) {
    EXPECT_NEAR(value * 255, 100, 1e-3);
  }
}

TEST(Resampler, WorksOnImagesSmallerThanItsFilter) {
  for (const int side : {1, 2, 3}) {
    const auto source = image(side, side, [](int, int, int) { return 60; });
    for (const auto& size : {ImageSize{1, 1}, ImageSize{2, 5}, ImageSize{9, 1}}) {
      for (const float value : resampled(source, {0, 0, double(side), double(side)}, {size, false, kPlain})) {
        EXPECT_NEAR(value * 255, 60, 1e-3);
      }
    }
  }
}

}  // namespace
}  // namespace gradwatt::training
