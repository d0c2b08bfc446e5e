#include "gradwatt/planning/cap_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gradwatt::planning {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A GPU whose load needs `free_w` to run free and idles at 60 W; remembers which caps were tried.
struct Gpu {
  double free_w = 300, knee_w = 260;
  std::vector<double> tried;
  int steps = 0;

  [[nodiscard]] double step_s(double cap_w) const {
    return 0.5 / std::min(1.0, (std::min(cap_w, free_w) - 60) / (knee_w - 60));
  }
  MeasureCap measure() {
    return [this](double cap_w, int count) -> core::Result<CapMeasurement> {
      tried.push_back(cap_w);
      steps += count;
      return CapMeasurement{cap_w, step_s(cap_w), std::min(cap_w, free_w)};
    };
  }
};
CapQuestion question() {
  CapQuestion out;
  for (double cap = 100; cap <= 400; cap += 20) out.caps_w.push_back(cap);
  return out;
}

TEST(CapChoice, ProfilesThreeCapsVerifiesOneAndSpendsTwoHundredSteps) {
  Gpu gpu;
  const auto choice = choose_cap(question(), gpu.measure());
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_THAT(gpu.tried, ElementsAre(400, 240, 180, choice->cap_w));
  EXPECT_EQ(choice->steps_spent, 200);
  EXPECT_EQ(gpu.steps, 200);
  EXPECT_TRUE(choice->verified);
  EXPECT_LT(choice->cap_w, 300);
  EXPECT_LE(gpu.step_s(choice->cap_w) / gpu.step_s(400), 1.06);
  EXPECT_LT(choice->energy, 1);
}

TEST(CapChoice, StepsUpWhenTheChosenCapProvesTooSlow) {
  Gpu gpu;
  int call = 0;
  const auto honest = gpu.measure();
  const auto choice = choose_cap(question(), [&](double cap_w, int steps) -> core::Result<CapMeasurement> {
    auto seen = honest(cap_w, steps);
    if (++call == 4) seen->step_s *= 1.3;
    return seen;
  });
  ASSERT_TRUE(choice);
  EXPECT_GT(choice->cap_w, gpu.tried.back());
  EXPECT_FALSE(choice->verified);
  EXPECT_THAT(choice->reason, HasSubstr("stepped up"));
}

TEST(CapChoice, LeavesALoadAloneThatNoCapReaches) {
  Gpu gpu{.free_w = 90, .knee_w = 80};
  const auto choice = choose_cap(question(), gpu.measure());
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->cap_w, 400);
  EXPECT_EQ(choice->steps_spent, 150);
  EXPECT_THAT(choice->reason, HasSubstr("draws less"));
}

TEST(CapChoice, ANodeThatDrawsMuchBesidesKeepsAHigherCap) {
  Gpu gpu;
  auto node = question();
  node.slowdown_limit = 0.5;
  const auto alone = choose_cap(node, gpu.measure());
  node.other_w = 400;
  const auto shared = choose_cap(node, gpu.measure());
  ASSERT_TRUE(alone && shared);
  EXPECT_GT(shared->cap_w, alone->cap_w);
}

TEST(CapChoice, SaysWhenTooFewCapsMayBeSetAndPassesOnAFailure) {
  Gpu gpu;
  const auto two = choose_cap({.caps_w = {300, 400}}, gpu.measure());
  ASSERT_FALSE(two);
  EXPECT_EQ(two.error().code, core::Errc::wrong_use);
  EXPECT_FALSE(choose_cap({}, gpu.measure()));
  const auto refused = choose_cap(question(), [](double, int) -> core::Result<CapMeasurement> {
    return core::fail(core::Errc::not_permitted, "setting the cap needs root");
  });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, core::Errc::not_permitted);
}

}  // namespace
}  // namespace gradwatt::planning
