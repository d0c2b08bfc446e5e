#include "gradwatt/energy/power_profile.hpp"

#include <gtest/gtest.h>

#include "gradwatt/energy/consequences.hpp"
#include "gradwatt/energy/scripted_run.hpp"

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;
using scripted::ScriptedRun;

constexpr auto kInstant = metric(DeviceKind::gpu, "power_inst");
constexpr auto kAverage = metric(DeviceKind::gpu, "power_avg");

PowerProfile only(const ScriptedRun& script) {
  const auto profiles = summarize(script.run).profiles;
  EXPECT_EQ(profiles.size(), 1U);
  return profiles.at(0);
}

TEST(PowerProfile, SteadyLoadShowsNoBaseLineAndFullStability) {
  ScriptedRun script(100);
  script.every(script.add(DeviceKind::gpu, 0), kAverage, 0, 100, 1, [](double) { return 300; });
  const auto out = only(script);
  EXPECT_FALSE(out.idle_w) << "a load that never came down showed no base line";
  EXPECT_EQ(out.falls_to_base, 0);
  EXPECT_EQ(out.swing, 0);
  EXPECT_NEAR(out.stability, 1, 1e-9);
  EXPECT_NEAR(out.mean_w, 300, 1e-9);
}

TEST(PowerProfile, CountsFallsToTheLowestLevelHeld) {
  // Idle for 10 s at first, then three pauses of 6 s between stretches of load, and the end in idle.
  ScriptedRun script(120);
  script.every(script.add(DeviceKind::gpu, 0), kAverage, 0, 120, 0.5, [](double t) {
    const bool idle = t < 10 || (t >= 30 && t < 36) || (t >= 50 && t < 56) || (t >= 80 && t < 86) || t > 110;
    return idle ? 70 : 400;
  });
  const auto out = only(script);
  EXPECT_NEAR(*out.idle_w, 70, 1e-9);
  EXPECT_EQ(out.falls_to_base, 3);
  EXPECT_NEAR(out.swing, 330 / out.mean_w, 1e-9);
}

TEST(PowerProfile, BaseLineBeforeTheJobIsPreferred) {
  ScriptedRun script(60);
  script.every(script.add(DeviceKind::gpu, 0), kAverage, -10, 60, 1, [](double t) { return t <= 0 ? 62 : 400; });
  EXPECT_NEAR(*only(script).idle_w, 62, 1e-9);
}

TEST(PowerProfile, FastSwingsAreNoBaseLine) {
  ScriptedRun script(100);
  script.every(script.add(DeviceKind::gpu, 0), kInstant, 0, 100, 0.25,
               [](double t) { return static_cast<int>(t * 2) % 2 == 0 ? 400 : 100; });
  const auto out = only(script);
  EXPECT_FALSE(out.idle_w);
  EXPECT_GT(out.swing, 1);
  EXPECT_LT(out.stability, 0.5);
}

TEST(PowerProfile, InstantPowerComesFirstAndACounterIsEnough) {
  ScriptedRun script(100);
  const auto gpu = script.add(DeviceKind::gpu, 0), cpu = script.add(DeviceKind::cpu, 0);
  script.every(gpu, kInstant, 0, 100, 1, [](double) { return 300; });
  script.every(gpu, kAverage, 0, 100, 1, [](double) { return 200; });
  script.every(cpu, metric(DeviceKind::cpu, "energy"), 0, 100, 1, [](double t) { return 120 * t; });
  const auto out = summarize(script.run).profiles;
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].metric, kInstant);
  EXPECT_FALSE(out[1].metric);
  EXPECT_NEAR(out[1].mean_w, 120, 1e-6);
}

TEST(Consequences, OnlyTheUsersFactorsCount) {
  EXPECT_FALSE(consequences_of(3.6e6, {}).price);
  EXPECT_FALSE(consequences_of(std::nullopt, {.pue = 1.3, .price_per_kwh = 0.3}).price);
  const auto out = consequences_of(3.6e6, {.pue = 1.5, .price_per_kwh = 0.2, .co2_g_per_kwh = 400});
  EXPECT_NEAR(*out.facility_energy_j, 5.4e6, 1e-6);
  EXPECT_NEAR(*out.price, 0.3, 1e-12);
  EXPECT_NEAR(*out.co2_g, 600, 1e-9);
  EXPECT_NEAR(*consequences_of(3.6e6, {.price_per_kwh = 0.2}).price, 0.2, 1e-12);
}

TEST(Consequences, KilowattHoursPerGpuHourAreTheMeanPowerOfAGpu) {
  ScriptedRun script(100);
  for (int i = 0; i < 4; ++i)
    script.every(script.add(DeviceKind::gpu, i), metric(DeviceKind::gpu, "energy"), i, 100, 1,
                 [](double t) { return 350 * t; });
  EXPECT_NEAR(*summarize(script.run).gpu_kwh_per_gpu_hour, 0.35, 1e-9);
}

}  // namespace
}  // namespace gradwatt::energy
