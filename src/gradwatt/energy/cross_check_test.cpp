#include "gradwatt/energy/cross_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradwatt/energy/scripted_run.hpp"

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;
using scripted::ScriptedRun;
using testing::Contains;
using testing::HasSubstr;
using Verdict = CrossCheck::Verdict;

constexpr auto kEnergy = metric(DeviceKind::gpu, "energy");
constexpr auto kAverage = metric(DeviceKind::gpu, "power_avg");
constexpr auto kInstant = metric(DeviceKind::gpu, "power_inst");

/// A counter at 300 W beside a power reading.
ScriptedRun beside(double duration_s, record::MetricId power, double watts) {
  ScriptedRun script(duration_s);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.every(gpu, kEnergy, 0, duration_s, 1, [](double t) { return 300 * t; });
  script.every(gpu, power, 0, duration_s, 1, [watts](double) { return watts; });
  return script;
}

CrossCheck only(const ScriptedRun& script) {
  const auto checks = summarize(script.run).cross_checks;
  EXPECT_EQ(checks.size(), 1U);
  return checks.at(0);
}

TEST(CrossCheck, AgreesWithinTwoPercent) {
  const auto check = only(beside(120, kAverage, 304));
  EXPECT_EQ(check.verdict, Verdict::agrees);
  EXPECT_NEAR(check.difference, 4.0 / 300, 1e-9);
  EXPECT_NEAR(check.window_s, 120, 1e-9);
}

TEST(CrossCheck, WarnsOverTwoAndSuspectsOverFivePercent) {
  EXPECT_EQ(only(beside(120, kAverage, 309)).verdict, Verdict::warning);
  EXPECT_EQ(only(beside(120, kAverage, 280)).verdict, Verdict::suspect);
  EXPECT_THAT(summarize(beside(120, kAverage, 280).run).warnings, Contains(HasSubstr("differ by -6.7 %")));
}

TEST(CrossCheck, ADifferenceWithinTheStatedUncertaintyIsNone) {
  auto script = beside(120, kAverage, 280);
  for (auto& quality : script.run.quality) quality.uncertainty = 0.05;
  const auto check = only(script);
  EXPECT_EQ(check.verdict, Verdict::agrees);
  EXPECT_NEAR(check.allowed, std::hypot(0.05, 0.05), 1e-6);
}

TEST(CrossCheck, ShortRunsAreNotJudged) {
  const auto check = only(beside(59, kAverage, 100));
  EXPECT_EQ(check.verdict, Verdict::not_judged);
  EXPECT_THAT(check.reason, HasSubstr("59 s"));
}

TEST(CrossCheck, ADutySampleWithoutAverageIsNotJudgedAndSaysSo) {
  auto script = beside(120, kInstant, 100);
  script.quality(static_cast<record::DeviceIndex>(0), kInstant).duty = 0.25;
  const auto check = only(script);
  EXPECT_EQ(check.verdict, Verdict::not_judged);
  EXPECT_THAT(check.reason, HasSubstr("25 % of the time"));
}

TEST(CrossCheck, OnlyTimeThatBothCoverCounts) {
  ScriptedRun script(300);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  const double none = std::nan("");
  script.every(gpu, kEnergy, 0, 300, 1, [](double t) { return t < 150 ? 100 * t : 15'000 + 500 * (t - 150); });
  script.every(gpu, kAverage, 0, 300, 1, [&](double t) { return t < 150 ? 100 : t < 290 ? none : 500; });
  const auto check = only(script);
  EXPECT_EQ(check.verdict, Verdict::agrees) << check.difference;
  EXPECT_NEAR(check.window_s, 149 + 10, 1e-6);
}

TEST(CrossCheck, NothingIsComparedWhereThereIsOnlyOne) {
  ScriptedRun script(120);
  script.every(script.add(DeviceKind::gpu, 0), kEnergy, 0, 120, 1, [](double t) { return 300 * t; });
  EXPECT_TRUE(summarize(script.run).cross_checks.empty());
}

}  // namespace
}  // namespace gradwatt::energy
