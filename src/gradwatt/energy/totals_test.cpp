#include "gradwatt/energy/totals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "gradwatt/energy/scripted_run.hpp"

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::How;
using record::metric;
using scripted::at;
using scripted::ScriptedRun;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr auto kGpuEnergy = metric(DeviceKind::gpu, "energy");
constexpr auto kGpuSlice = metric(DeviceKind::gpu, "energy_slice");
constexpr auto kGpuModule = metric(DeviceKind::gpu, "energy_module");
constexpr auto kGpuAverage = metric(DeviceKind::gpu, "power_avg");
constexpr auto kGpuInstant = metric(DeviceKind::gpu, "power_inst");
constexpr auto kCpuEnergy = metric(DeviceKind::cpu, "energy");
constexpr auto kCpuPower = metric(DeviceKind::cpu, "power");
constexpr auto kRamEnergy = metric(DeviceKind::dram, "energy");
constexpr auto kRamPower = metric(DeviceKind::dram, "power");
constexpr auto kNodePower = metric(DeviceKind::node, "power");

auto steady(double watts) {
  return [watts](double) { return watts; };
}
auto growing(double watts) {
  return [watts](double t) { return watts * t; };
}

Totals totals(const ScriptedRun& script) { return summarize(script.run).energy; }
const Component& part(const Totals& totals, std::size_t i) { return totals.components.at(i); }

TEST(Totals, SplitsIntoPartsWithTheirShareAndTakesTheWeakestOrigin) {
  ScriptedRun script(100);
  const auto gpu = script.add(DeviceKind::gpu, 0), cpu = script.add(DeviceKind::cpu, 0);
  script.every(gpu, kGpuEnergy, 0, 100, 1, growing(300));
  script.every(cpu, kCpuPower, 0, 100, 1, steady(100));
  const auto out = totals(script);
  EXPECT_NEAR(*out.energy_j, 40'000, 1e-6);
  EXPECT_EQ(out.how, How::integrated);
  EXPECT_EQ(out.coverage, 1);
  EXPECT_EQ(part(out, 0).how, How::counter);
  EXPECT_NEAR(*part(out, 0).share, 0.75, 1e-9);
  EXPECT_NEAR(*part(out, 1).power_avg_w, 100, 1e-9);
  EXPECT_EQ(part(out, 2).component, "ram");
  EXPECT_FALSE(part(out, 2).energy_j);
  EXPECT_FALSE(part(out, 2).why_not.empty());
  EXPECT_THAT(out.not_measured, Contains("RAM"));
  EXPECT_THAT(out.not_measured, Not(Contains("GPU")));
}

TEST(Totals, CounterWinsOverPowerAndAverageOverInstant) {
  ScriptedRun script(10);
  const auto a = script.add(DeviceKind::gpu, 0), b = script.add(DeviceKind::gpu, 1), c = script.add(DeviceKind::gpu, 2);
  script.every(a, kGpuEnergy, 0, 10, 1, growing(300));
  script.every(a, kGpuAverage, 0, 10, 1, steady(1));
  script.every(b, kGpuAverage, 0, 10, 1, steady(200));
  script.every(b, kGpuInstant, 0, 10, 1, steady(1));
  script.every(c, kGpuInstant, 0, 10, 1, steady(100));
  const auto out = totals(script);
  const auto& devices = part(out, 0).devices;
  EXPECT_EQ(devices[0].metric, kGpuEnergy);
  EXPECT_EQ(devices[1].metric, kGpuAverage);
  EXPECT_EQ(devices[2].metric, kGpuInstant);
  EXPECT_NEAR(*out.energy_j, 6000, 1e-6);
}

TEST(Totals, ACounterThatStandsStillIsNotZeroJoules) {
  ScriptedRun script(10);
  const auto a = script.add(DeviceKind::gpu, 0), b = script.add(DeviceKind::gpu, 1);
  script.every(a, kGpuEnergy, 0, 10, 1, steady(7));
  script.every(a, kGpuAverage, 0, 10, 1, steady(150));
  script.every(b, kGpuEnergy, 0, 10, 1, steady(7));
  const auto out = totals(script);
  const auto& gpu = part(out, 0);
  EXPECT_EQ(gpu.devices[0].metric, kGpuAverage);
  EXPECT_FALSE(gpu.devices[1].energy_j);
  EXPECT_THAT(gpu.devices[1].why_not, HasSubstr("did not move"));
  EXPECT_EQ(gpu.coverage, 0) << "a GPU that counts and has no figure is a hole";
}

TEST(Totals, ACounterLostEarlyGivesWayToPower) {
  ScriptedRun script(100);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  const double lost = std::numeric_limits<double>::quiet_NaN();
  script.every(gpu, kGpuEnergy, 0, 100, 1, [&](double t) { return t < 10 ? 300 * t : lost; });
  script.every(gpu, kGpuAverage, 0, 100, 1, steady(300));
  const auto out = totals(script);
  EXPECT_EQ(part(out, 0).devices[0].metric, kGpuAverage);
  EXPECT_NEAR(*out.energy_j, 30'000, 1e-6);
}

TEST(Totals, LeadAndTailAreEstimatedApart) {
  ScriptedRun script(100);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.every(gpu, kGpuEnergy, 4, 96, 1, [](double t) { return 250 * (t - 4); });
  const auto out = totals(script);
  EXPECT_EQ(*out.energy_j, 250 * 92);
  EXPECT_NEAR(out.coverage, 0.92, 1e-9);
  EXPECT_NEAR(*out.estimated_j, 250 * 8, 1e-6);
  EXPECT_NEAR(*part(out, 0).power_avg_w, 250, 1e-9);
}

TEST(Totals, NothingIsEstimatedWhereAllIsCovered) {
  ScriptedRun script(10);
  script.every(script.add(DeviceKind::gpu, 0), kGpuEnergy, 0, 10, 1, growing(250));
  EXPECT_FALSE(totals(script).estimated_j);
}

TEST(Totals, SlicesOfACountedGpuAreNotCountedAgain) {
  ScriptedRun script(10);
  const auto gpu = script.add(DeviceKind::gpu, 0, "GPU-a"), slice = script.add(DeviceKind::gpu, -1, "MIG-1");
  script.run.devices[1].attributes["parent"] = "GPU-a";
  script.every(gpu, kGpuEnergy, 0, 10, 1, growing(300));
  script.every(slice, kGpuSlice, 0, 10, 1, growing(100));
  script.quality(slice, kGpuSlice).how = How::modelled;
  const auto summary = summarize(script.run);
  EXPECT_EQ(*summary.energy.energy_j, 3000);
  EXPECT_EQ(summary.energy.how, How::counter);
  const auto& figure = part(summary.energy, 0).devices[1];
  EXPECT_FALSE(figure.in_total);
  EXPECT_EQ(*figure.energy_j, 1000) << "shown, not counted";
  EXPECT_THAT(figure.why_not, HasSubstr("part of GPU 0"));
  EXPECT_THAT(summary.warnings, Contains(HasSubstr("partitioned")));
}

TEST(Totals, SlicesCountWhereTheirGpuCannotBeRead) {
  ScriptedRun script(10);
  const auto slice = script.add(DeviceKind::gpu, -1, "MIG-1");
  script.run.devices[0].attributes["parent"] = "GPU-a";
  script.every(slice, kGpuSlice, 0, 10, 1, growing(100));
  script.quality(slice, kGpuSlice).how = How::modelled;
  const auto out = totals(script);
  EXPECT_EQ(*out.energy_j, 1000);
  EXPECT_EQ(out.how, How::modelled);
}

TEST(Totals, PartsInsideASuperchipModuleAreNotCountedAgain) {
  ScriptedRun script(10);
  const auto gpu = script.add(DeviceKind::gpu, 0), cpu = script.add(DeviceKind::cpu, 0);
  const auto ram = script.add(DeviceKind::dram, 0);
  script.every(gpu, kGpuEnergy, 0, 10, 1, growing(600));
  script.quality(gpu, kGpuEnergy).scope = "module";
  script.every(cpu, kCpuPower, 0, 10, 1, steady(200));
  script.every(ram, kRamPower, 0, 10, 1, steady(20));
  const auto out = totals(script);
  EXPECT_EQ(*out.energy_j, 6000);
  EXPECT_THAT(part(out, 1).devices[0].why_not, HasSubstr("inside the module"));
  EXPECT_THAT(out.not_measured, Not(Contains("CPU")));
}

TEST(Totals, AGpuScopeCounterLeavesTheModuleMeterAside) {
  ScriptedRun script(10);
  const auto gpu = script.add(DeviceKind::gpu, 0), cpu = script.add(DeviceKind::cpu, 0);
  script.every(gpu, kGpuEnergy, 0, 10, 1, growing(500));
  script.quality(gpu, kGpuEnergy).scope = "gpu";
  script.every(gpu, kGpuModule, 0, 10, 1, growing(700));
  script.every(cpu, kCpuPower, 0, 10, 1, steady(150));
  EXPECT_NEAR(*totals(script).energy_j, 6500, 1e-6);
}

TEST(Totals, AModelIsNotAddedToWhatIsMeasured) {
  ScriptedRun script(10);
  const auto measured = script.add(DeviceKind::cpu, 0), model = script.add(DeviceKind::cpu, -1, "cpu-model");
  script.every(measured, kCpuEnergy, 0, 10, 1, growing(100));
  script.every(model, kCpuPower, 0, 10, 1, steady(90));
  script.quality(model, kCpuPower).how = How::modelled;
  EXPECT_EQ(*totals(script).energy_j, 1000);
  EXPECT_EQ(totals(script).how, How::counter);
}

TEST(Totals, ADeviceThatIsRecordedTwiceCountsOnce) {
  ScriptedRun script(10);
  const auto a = script.add(DeviceKind::gpu, 0, "GPU-a"), b = script.add(DeviceKind::gpu, 0, "GPU-a");
  script.every(a, kGpuEnergy, 0, 10, 1, growing(100));
  script.every(b, kGpuEnergy, 0, 10, 1, growing(100));
  EXPECT_EQ(*totals(script).energy_j, 1000);
}

TEST(Totals, GpusTenToNineteenAreDevicesOfTheirOwn) {
  ScriptedRun script(10);
  for (int i = 0; i < 20; ++i) script.every(script.add(DeviceKind::gpu, i), kGpuEnergy, 0, 10, 1, growing(10 + i));
  EXPECT_EQ(*totals(script).energy_j, (20 * 10 + 190) * 10);
}

TEST(Totals, TheRestIsWhatTheNodeMeterShowsBeyondTheParts) {
  ScriptedRun script(100);
  const auto gpu = script.add(DeviceKind::gpu, 0), node = script.add(DeviceKind::node, -1);
  script.every(gpu, kGpuEnergy, 0, 100, 1, growing(300));
  script.every(node, kNodePower, 0, 100, 10, steady(450));
  const auto out = totals(script);
  ASSERT_EQ(out.components.size(), 4U);
  EXPECT_EQ(part(out, 3).component, "rest");
  EXPECT_NEAR(*part(out, 3).energy_j, 15'000, 1e-6);
  EXPECT_NEAR(*out.energy_j, 45'000, 1e-6);
  EXPECT_EQ(part(out, 3).how, How::integrated);
}

TEST(Totals, ANodeMeterBelowItsPartsGivesNoRest) {
  ScriptedRun script(100);
  const auto gpu = script.add(DeviceKind::gpu, 0), node = script.add(DeviceKind::node, -1);
  script.every(gpu, kGpuEnergy, 0, 100, 1, growing(300));
  script.every(node, kNodePower, 0, 100, 10, steady(200));
  const auto summary = summarize(script.run);
  EXPECT_FALSE(part(summary.energy, 3).energy_j);
  EXPECT_EQ(*summary.energy.energy_j, 30'000);
  EXPECT_THAT(summary.warnings, Contains(HasSubstr("less than the 300 W")));
}

TEST(Totals, AHostEntryWithoutAnyPowerSourceIsNoHole) {
  ScriptedRun script(10);
  const auto cpu = script.add(DeviceKind::cpu, 0), clocks = script.add(DeviceKind::cpu, 1);
  script.every(cpu, kCpuEnergy, 0, 10, 1, growing(100));
  script.every(clocks, metric(DeviceKind::cpu, "clock"), 0, 10, 1, steady(2000));
  EXPECT_EQ(part(totals(script), 1).coverage, 1);
}

TEST(Totals, IntervalOfACounterHoldsItsEdgesAndTheStatedUncertainty) {
  ScriptedRun script(100);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.every(gpu, kGpuEnergy, 0, 100, 1, growing(300));
  auto& quality = script.quality(gpu, kGpuEnergy);
  quality.update_ns = 100'000'000;
  EXPECT_NEAR(*totals(script).high_j - 30'000, 30, 1e-6) << "0.1 s of 300 W";
  quality.uncertainty = 0.05;
  const auto out = totals(script);
  EXPECT_NEAR(*out.high_j - 30'000, std::hypot(30, 1500), 1e-6);
  EXPECT_THAT(part(out, 0).devices[0].interval_contains, HasSubstr("sensor ±5 %"));
}

TEST(Totals, ACounterThatStatesNothingClaimsNoInterval) {
  ScriptedRun script(100);
  script.every(script.add(DeviceKind::gpu, 0), kGpuEnergy, 0, 100, 1, growing(300));
  EXPECT_FALSE(totals(script).low_j);
}

TEST(Totals, RangeOfAModelIsItsInterval) {
  ScriptedRun script(100);
  const auto ram = script.add(DeviceKind::dram, -1);
  script.every(ram, kRamPower, 0, 100, 1, steady(40));
  auto& quality = script.quality(ram, kRamPower);
  quality.how = How::modelled;
  quality.range_low = 0.6;
  quality.range_high = 1.5;
  const auto out = totals(script);
  EXPECT_NEAR(*out.low_j, 2400, 1e-6);
  EXPECT_NEAR(*out.high_j, 6000, 1e-6);
}

TEST(Totals, SensorsOfOneKindMayLeanTheSameWay) {
  ScriptedRun script(100);
  for (int i = 0; i < 4; ++i) {
    const auto gpu = script.add(DeviceKind::gpu, i);
    script.every(gpu, kGpuEnergy, 0, 100, 1, growing(300));
    script.quality(gpu, kGpuEnergy).uncertainty = 0.05;
  }
  EXPECT_NEAR(*totals(script).high_j, 120'000 * 1.05, 1e-6);
}

TEST(Totals, AnEmptyRunHasReasonsInsteadOfZeros) {
  const auto summary = summarize(record::Run{});
  EXPECT_FALSE(summary.energy.energy_j);
  ASSERT_EQ(summary.energy.components.size(), 3U);
  for (const auto& component : summary.energy.components) EXPECT_FALSE(component.why_not.empty());
  EXPECT_FALSE(summary.steps);
  EXPECT_FALSE(summary.gpu_kwh_per_gpu_hour);
}

TEST(Totals, ARunShorterThanOneUpdateHasNoEnergyAndSaysWhy) {
  ScriptedRun script(0.01);
  script.readings(script.add(DeviceKind::gpu, 0), kGpuEnergy, {{0.002, 0}, {0.01, 0}});
  EXPECT_FALSE(totals(script).energy_j);
  EXPECT_THAT(part(totals(script), 0).why_not, HasSubstr("did not move"));
}

TEST(Totals, AResetMakesItsMomentEstimated) {
  ScriptedRun script(10);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.every(gpu, kGpuEnergy, 0, 10, 1, [](double t) { return t < 5.5 ? 100 * t : 100 * (t - 1); });
  script.quality(gpu, kGpuEnergy).resets = 1;
  script.event("counter.reset", 6, gpu, "began again");
  const auto summary = summarize(script.run);
  EXPECT_EQ(*summary.energy.energy_j, 900);
  EXPECT_NEAR(summary.energy.coverage, 0.9, 1e-9);
  EXPECT_NEAR(*summary.energy.estimated_j, 100, 1e-6);
  EXPECT_THAT(summary.warnings, Contains(HasSubstr("began again once")));
}

TEST(Totals, EveryColumnThatTheSummaryReadsIsInItsLoadList) {
  const auto columns = *columns_for_summary().metrics;
  for (const auto id :
       {kGpuEnergy, kGpuSlice, kGpuModule, kGpuAverage, kGpuInstant, kCpuEnergy, kRamEnergy, kNodePower})
    EXPECT_THAT(columns, Contains(id));
}

}  // namespace
}  // namespace gradwatt::energy
