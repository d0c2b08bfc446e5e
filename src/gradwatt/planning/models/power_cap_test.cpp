#include "gradwatt/planning/models/power_cap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gradwatt::planning {
namespace {

using ::testing::HasSubstr;

/// A load that runs free from about 240 of 400 W on: speed linear in the power above 60 W.
CapMeasurement load_at(double cap_w) {
  const double power = std::min(cap_w, 300.0);
  return {cap_w, 0.5 / std::min(1.0, (power - 60) / 180), power};
}
std::vector<CapMeasurement> loads_at(std::initializer_list<double> caps_w) {
  std::vector<CapMeasurement> out;
  for (const double cap : caps_w) out.push_back(load_at(cap));
  return out;
}

TEST(PowerCap, ThreeCapsShowTheCurveBetweenThem) {
  const auto model = fit_power_cap(loads_at({180, 240, 400}));
  ASSERT_TRUE(model) << model.error().message;
  for (const double cap : {200.0, 220.0, 280.0, 340.0}) {
    EXPECT_NEAR(slowdown_at(*model, cap), load_at(cap).step_s / 0.5, 0.1) << cap;
    EXPECT_NEAR(power_at(*model, cap) / load_at(cap).power_w, 1, 0.1) << cap;
  }
  EXPECT_DOUBLE_EQ(slowdown_at(*model, 400), 1);
}

TEST(PowerCap, AProfiledCapIsKnownBetterThanOneBetween) {
  const auto model = fit_power_cap(loads_at({180, 240, 400}));
  ASSERT_TRUE(model);
  EXPECT_LT(slowdown_spread(*model, 400), slowdown_spread(*model, 300));
  const auto between = slowdown_figure(*model, 210);
  EXPECT_LT(between.low90, load_at(210).step_s / 0.5);
  EXPECT_GT(between.high90, load_at(210).step_s / 0.5);
}

TEST(PowerCap, GivesNoFigureBelowTheLowestProfiledCapOrAboveTheHighest) {
  const auto model = fit_power_cap(loads_at({180, 240, 400}));
  ASSERT_TRUE(model);
  ASSERT_TRUE(gap_of(*model, 150));
  EXPECT_THAT(*gap_of(*model, 150), HasSubstr("below the lowest profiled one, 180 W"));
  EXPECT_TRUE(gap_of(*model, 450));
  EXPECT_FALSE(gap_of(*model, 180));
}

TEST(PowerCap, AsksForThreeCapsAndRealMeasurements) {
  const auto two = fit_power_cap(loads_at({240, 400}));
  ASSERT_FALSE(two);
  EXPECT_THAT(two.error().message, HasSubstr("needs three"));
  auto bad = loads_at({180, 240, 400});
  bad[1].power_w = 0;
  EXPECT_FALSE(fit_power_cap(bad));
}

}  // namespace
}  // namespace gradwatt::planning
