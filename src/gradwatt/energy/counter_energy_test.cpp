#include "gradwatt/energy/counter_energy.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "gradwatt/energy/scripted_run.hpp"

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;
using scripted::at;
using scripted::ScriptedRun;

constexpr auto kCpuEnergy = metric(DeviceKind::cpu, "energy");
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

Window job(const ScriptedRun& script) { return job_window(script.run).value(); }

TEST(CounterEnergy, IsLastMinusFirstToTheUnit) {
  // 400, 50 and 100 J in three seconds: re-integrated differences would make 700 J of these 550.
  ScriptedRun script(3);
  const auto cpu = script.add(DeviceKind::cpu, 0);
  script.readings(cpu, kCpuEnergy, {{0, 0}, {1, 400}, {2, 450}, {3, 550}});
  script.quality(cpu, kCpuEnergy);
  const auto counter = open_series(script.run, cpu, kCpuEnergy);
  const auto energy = counter_energy(*counter, job(script), {});
  ASSERT_TRUE(energy);
  EXPECT_EQ(energy->energy_j, 550.0);
  EXPECT_EQ(energy->covered_s, 3.0);
  EXPECT_EQ(energy->edges_j, 0.0);
}

TEST(CounterEnergy, KeepsTheLastMicrojouleOfALargeTotal) {
  ScriptedRun script(10);
  const auto cpu = script.add(DeviceKind::cpu, 0);
  script.readings(cpu, kCpuEnergy, {{0, 0}, {10, 0}});
  script.run.series[0].columns[0].values = {7'000'000'000'000'001, 7'000'001'234'567'892};
  script.quality(cpu, kCpuEnergy);
  const auto counter = open_series(script.run, cpu, kCpuEnergy);
  EXPECT_EQ(counter_energy(*counter, job(script), {})->energy_j, 1234.567891);
}

TEST(CounterEnergy, FailedReadingsInBetweenLoseNothing) {
  ScriptedRun script(5);
  const auto cpu = script.add(DeviceKind::cpu, 0);
  script.readings(cpu, kCpuEnergy, {{0, 0}, {1, 100}, {2, kMissing}, {3, kMissing}, {4, 400}, {5, 500}});
  script.quality(cpu, kCpuEnergy);
  const auto energy = counter_energy(*open_series(script.run, cpu, kCpuEnergy), job(script), {});
  EXPECT_EQ(energy->energy_j, 500.0);
  EXPECT_EQ(energy->covered_s, 5.0);
}

TEST(CounterEnergy, CountsOnlyFromTheFirstToTheLastReadingOfTheJob) {
  ScriptedRun script(10);
  const auto cpu = script.add(DeviceKind::cpu, 0);
  script.readings(cpu, kCpuEnergy, {{2, 0}, {3, 100}, {8, 600}});
  script.quality(cpu, kCpuEnergy);
  const auto energy = counter_energy(*open_series(script.run, cpu, kCpuEnergy), job(script), {});
  EXPECT_EQ(energy->energy_j, 600.0);
  EXPECT_EQ(energy->covered_s, 6.0);
}

TEST(CounterEnergy, EdgesBetweenReadingsLieOnTheLineBetweenThem) {
  ScriptedRun script(2);
  const auto cpu = script.add(DeviceKind::cpu, 0);
  script.readings(cpu, kCpuEnergy, {{-0.25, 0}, {0.75, 100}, {1.75, 300}, {2.75, 400}});
  script.quality(cpu, kCpuEnergy);
  const auto energy = counter_energy(*open_series(script.run, cpu, kCpuEnergy), job(script), {});
  EXPECT_DOUBLE_EQ(energy->energy_j, 300 + 25 - 25);
  EXPECT_DOUBLE_EQ(energy->covered_s, 2.0);
  EXPECT_GT(energy->edges_j, 0);
}

TEST(CounterEnergy, EdgesInsideALongGapAreNotGuessed) {
  ScriptedRun script(10);
  const auto cpu = script.add(DeviceKind::cpu, 0);
  script.readings(cpu, kCpuEnergy, {{-30, 0}, {1, 3100}, {9, 3900}, {60, 9000}});
  script.quality(cpu, kCpuEnergy);
  const auto energy = counter_energy(*open_series(script.run, cpu, kCpuEnergy), job(script), {});
  EXPECT_EQ(energy->energy_j, 800.0);
  EXPECT_EQ(energy->covered_s, 8.0);
}

TEST(CounterEnergy, TheMomentOfAResetIsNotCovered) {
  ScriptedRun script(4);
  const auto cpu = script.add(DeviceKind::cpu, 0);
  script.readings(cpu, kCpuEnergy, {{0, 0}, {1, 100}, {2, 100}, {3, 200}, {4, 300}});
  script.quality(cpu, kCpuEnergy).resets = 1;
  script.event("counter.reset", 2, cpu, "began again");
  const auto counter = open_series(script.run, cpu, kCpuEnergy);
  const auto resets = resets_of(script.run, *counter);
  ASSERT_EQ(resets.size(), 1U);
  const auto energy = counter_energy(*counter, job(script), resets);
  EXPECT_EQ(energy->energy_j, 300.0);
  EXPECT_EQ(energy->covered_s, 3.0);
}

TEST(CounterEnergy, OneReadingIsNoEnergy) {
  ScriptedRun script(4);
  const auto cpu = script.add(DeviceKind::cpu, 0);
  script.readings(cpu, kCpuEnergy, {{1, 5}});
  EXPECT_FALSE(counter_energy(*open_series(script.run, cpu, kCpuEnergy), job(script), {}));
}

TEST(CounterEnergy, WindowsBesideTheReadingsHaveNone) {
  ScriptedRun script(4);
  const auto cpu = script.add(DeviceKind::cpu, 0);
  script.readings(cpu, kCpuEnergy, {{0, 0}, {4, 5}});
  const auto counter = open_series(script.run, cpu, kCpuEnergy);
  EXPECT_FALSE(counter_energy(*counter, {at(-9), at(-5)}, {}));
  EXPECT_FALSE(counter_energy(*counter, {at(5), at(9)}, {}));
}

TEST(CounterEnergy, DifferencesBecomePower) {
  ScriptedRun script(4);
  const auto cpu = script.add(DeviceKind::cpu, 0);
  script.readings(cpu, kCpuEnergy, {{0, 0}, {1, 100}, {3, 500}});
  const auto power = power_from(*open_series(script.run, cpu, kCpuEnergy), metric(DeviceKind::cpu, "power"));
  ASSERT_TRUE(power);
  EXPECT_EQ(std::vector(power->readings.values().begin(), power->readings.values().end()),
            (std::vector<std::int64_t>{100'000, 200'000}));
}

}  // namespace
}  // namespace gradwatt::energy
