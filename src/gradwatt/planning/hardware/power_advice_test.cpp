#include "gradwatt/planning/hardware/power_advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::planning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const catalog::GpuRow& a100() { return *catalog::find_gpu("A100 SXM4 40GB"); }

energy::PowerProfile shape(double mean, double p5, double p95, std::int64_t falls = 0) {
  return {.idle_w = 52, .mean_w = mean, .p5_w = p5, .p95_w = p95, .swing = (p95 - p5) / mean, .falls_to_base = falls};
}

TEST(PowerAdvice, ASteadyHeavyLoadTriesThreeCapsDownToTheFloor) {
  const auto advice = advise_power({.profile = shape(385, 370, 398), .utilization_share = 0.99}, a100());
  EXPECT_EQ(advice.kind, PowerAdviceKind::try_caps);
  EXPECT_THAT(advice.caps_w, ElementsAre(400, 260, 200));
  EXPECT_THAT(advice.advice, HasSubstr("400, 260, 200 W"));
  EXPECT_THAT(advice.advice, HasSubstr("the same on every GPU"));
}

TEST(PowerAdvice, ACapAboveTheDrawIsNotTried) {
  // 240 W of 400: the cap of 260 would do nothing.
  const auto advice = advise_power({.profile = shape(235, 225, 240), .utilization_share = 0.99}, a100());
  EXPECT_THAT(advice.caps_w, ElementsAre(400, 200));
  const auto below = advise_power({.profile = shape(180, 170, 190)}, a100());
  EXPECT_EQ(below.kind, PowerAdviceKind::none);
  EXPECT_THAT(below.advice, HasSubstr("200 W, lies above what it draws"));
}

TEST(PowerAdvice, SwingsToTheBaseLineAreARepairNotACap) {
  // The A100 of the first article: 100–300 W, back to the base line again and again.
  const auto advice = advise_power({.profile = shape(200, 100, 300, 240), .utilization_share = 0.7}, a100());
  EXPECT_EQ(advice.kind, PowerAdviceKind::repair_wait);
  EXPECT_TRUE(advice.caps_w.empty());
  EXPECT_THAT(advice.finding, HasSubstr("fallen back to 240 times"));
  EXPECT_THAT(advice.advice, HasSubstr("a cap does not smooth such swings"));
}

TEST(PowerAdvice, AStepThatWaitsIsRepairedFirst) {
  const auto advice =
      advise_power({.profile = shape(131, 120, 140), .utilization_share = 0.99, .data_wait_share = 0.4}, a100());
  EXPECT_EQ(advice.kind, PowerAdviceKind::repair_wait);
  EXPECT_THAT(advice.finding, HasSubstr("40 % of a step waits for its batch"));
}

TEST(PowerAdvice, BusyAtLessThanHalfTheLimitIsAMatterOfClocks) {
  // The H100 of the first article: 200–250 W of 700 W, steady.
  const auto advice =
      advise_power({.profile = shape(225, 200, 250), .utilization_share = 0.99}, *catalog::find_gpu("H100 SXM5"));
  EXPECT_EQ(advice.kind, PowerAdviceKind::lower_clocks);
  EXPECT_THAT(advice.advice, HasSubstr("a cap above the draw does nothing"));
}

TEST(PowerAdvice, ALightLoadIsLeftAlone) {
  const auto advice =
      advise_power({.profile = shape(60, 55, 70), .utilization_share = 0.3}, *catalog::find_gpu("V100 PCIe 16GB"));
  EXPECT_EQ(advice.kind, PowerAdviceKind::none);
  EXPECT_THAT(advice.advice, HasSubstr("does not respond to caps"));
}

TEST(PowerAdvice, TheFloorIsHalfTheMaximumAndWithinWhatTheDeviceAllows) {
  EXPECT_EQ(cap_floor_w(a100()), 200);
  EXPECT_EQ(cap_floor_w(*catalog::find_gpu("T4")), 60);  // its minimum is higher than half
  EXPECT_EQ(cap_floor_w(with_live(a100(), {.power_max_w = 500})), 250);
  EXPECT_FALSE(cap_floor_w({.name = "X9"}));
}

TEST(PowerAdvice, WithoutPowerOrLimitItSaysHowToGetThem) {
  EXPECT_EQ(advise_power({}, a100()).kind, PowerAdviceKind::unknown);
  EXPECT_THAT(advise_power({}, a100()).advice, HasSubstr("gradwatt run"));
  EXPECT_THAT(advise_power({.profile = shape(100, 90, 110)}, {.name = "X9"}).advice, HasSubstr("gradwatt doctor"));
}

TEST(PowerAdvice, NeverSaysWhatMustNotBeSaid) {
  for (const double mean : {40, 90, 150, 250, 380})
    for (const std::int64_t falls : {0, 50})
      for (const double busy : {0.2, 0.99}) {
        const auto advice =
            advise_power({.profile = shape(mean, 0.5 * mean, 1.04 * mean, falls), .utilization_share = busy}, a100());
        EXPECT_THAT(advice.advice, Not(HasSubstr("persistence")));
        EXPECT_THAT(advice.advice, Not(HasSubstr("nvidia-smi")));
        for (const double cap : advice.caps_w) EXPECT_GE(cap, advice.floor_w);
      }
}

}  // namespace
}  // namespace gradwatt::planning
