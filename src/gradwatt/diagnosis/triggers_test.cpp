#include "gradwatt/diagnosis/triggers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "gradwatt/diagnosis/live_window.hpp"
#include "gradwatt/energy/scripted_run.hpp"

namespace gradwatt::diagnosis {
namespace {

using energy::scripted::at;
using energy::scripted::ScriptedRun;
using record::DeviceKind;
using record::MarkKind;
using record::metric;
using record::Phase;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kBusy = metric(DeviceKind::gpu, "utilization");
constexpr auto kPower = metric(DeviceKind::gpu, "power_avg");
constexpr auto kLimit = metric(DeviceKind::gpu, "power_limit_enforced");
constexpr auto kLimitAsked = metric(DeviceKind::gpu, "power_limit_requested");
constexpr auto kReasons = metric(DeviceKind::gpu, "clock_event_reasons");
constexpr auto kHeldHardware = metric(DeviceKind::gpu, "held_hw_thermal");
constexpr auto kHeldBrake = metric(DeviceKind::gpu, "held_power_brake");

auto steady(double level) {
  return [level](double) { return level; };
}

record::DeviceIndex add_gpu(ScriptedRun& script, double duration_s, double busy_pct, double watts,
                            double limit_w = 700) {
  const auto gpu = script.add(DeviceKind::gpu, static_cast<int>(script.run.devices.size()));
  script.every(gpu, kBusy, 0, duration_s, 1, steady(busy_pct));
  script.every(gpu, kPower, 0, duration_s, 1, steady(watts));
  script.every(gpu, kLimit, 0, duration_s, 1, steady(limit_w));
  return gpu;
}

void add_steps(ScriptedRun& script, int rank, int count, double step_s, double wait_share) {
  for (int i = 0; i < count; ++i)
    script.mark(MarkKind::step, rank, i, i * step_s, (i + 1) * step_s)
        .phase_ns[static_cast<std::size_t>(Phase::data_wait)] = std::llround(step_s * wait_share * 1e9);
}

std::vector<std::string> names(const std::vector<Trigger>& triggers) {
  std::vector<std::string> out;
  for (const auto& t : triggers) out.emplace_back(t.name);
  return out;
}

TEST(TriggerTable, EveryRowIsCompleteAndNamedOnce) {
  std::set<std::string_view> seen;
  for (const auto& row : trigger_table()) {
    EXPECT_TRUE(seen.insert(row.name).second) << row.name;
    EXPECT_GT(row.threshold, 0) << row.name;
    EXPECT_FALSE(row.unit.empty() || row.description.empty() || row.origin.empty()) << row.name;
    EXPECT_NE(row.look, nullptr) << row.name;
  }
}

TEST(Triggers, AHealthyRunShowsNone) {
  ScriptedRun script(300);
  for (int i = 0; i < 8; ++i) add_gpu(script, 300, 99, 650);
  add_steps(script, 0, 100, 1, 0.02);
  add_steps(script, 1, 100, 1, 0.02);
  EXPECT_THAT(evaluate(script.run), IsEmpty());
}

TEST(Triggers, AnEmptyRunShowsNone) { EXPECT_THAT(evaluate(record::Run{}), IsEmpty()); }

TEST(Triggers, BusyWithLowPowerIsSaidWithItsFigures) {
  ScriptedRun script(2520);
  for (int i = 0; i < 8; ++i) add_gpu(script, 2520, 99, 266);
  const auto out = evaluate(script.run);
  ASSERT_THAT(out, SizeIs(1));
  EXPECT_EQ(out[0].name, "busy-low-power");
  EXPECT_EQ(out[0].severity, Severity::warning);
  EXPECT_EQ(out[0].text, "busy 99 %, power 38 % of the limit (8 of 8 GPUs, 42 min 00 s of 42 min 00 s)");
  EXPECT_EQ(out[0].next, "gradwatt diagnose");
  EXPECT_NEAR(out[0].value, 38, 1e-6);
}

TEST(Triggers, ShortOrModestPhasesOfLowPowerAreNone) {
  ScriptedRun script(300);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.every(gpu, kBusy, 0, 300, 1, steady(99));
  script.every(gpu, kPower, 0, 300, 1, [](double t) { return t > 100 && t < 115 ? 200 : 650; });
  script.every(gpu, kLimit, 0, 300, 1, steady(700));
  EXPECT_THAT(evaluate(script.run), IsEmpty());
}

TEST(Triggers, AShortStretchInALongRunIsANote) {
  ScriptedRun script(3600);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.every(gpu, kBusy, 0, 3600, 1, steady(99));
  script.every(gpu, kPower, 0, 3600, 1, [](double t) { return t >= 600 && t <= 690 ? 200 : 650; });
  script.every(gpu, kLimit, 0, 3600, 1, steady(700));
  const auto out = evaluate(script.run);
  ASSERT_THAT(out, SizeIs(1));
  EXPECT_EQ(out[0].severity, Severity::note);
}

TEST(Triggers, WithoutALimitLowPowerCannotBeSeen) {
  ScriptedRun script(300);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.every(gpu, kBusy, 0, 300, 1, steady(99));
  script.every(gpu, kPower, 0, 300, 1, steady(200));
  EXPECT_THAT(evaluate(script.run), IsEmpty());
  script.run.devices[0].attributes["power_limit_enforced_w"] = "700";
  EXPECT_THAT(names(evaluate(script.run)), testing::ElementsAre("busy-low-power"));
}

TEST(Triggers, ThermalHoldIsTakenFromItsCounter) {
  ScriptedRun script(100);
  const auto gpu = add_gpu(script, 100, 99, 650);
  script.every(gpu, kHeldHardware, 0, 100, 1, [](double t) { return 0.3 * t; });
  const auto out = evaluate(script.run);
  ASSERT_THAT(names(out), testing::ElementsAre("held-thermal"));
  EXPECT_THAT(out[0].text, HasSubstr("clocks held by thermal slowdown 30 % of the time"));
}

TEST(Triggers, HeldClocksAreSeenInTheReasonBitsToo) {
  ScriptedRun script(100);
  const auto gpu = add_gpu(script, 100, 99, 650);
  script.every(gpu, kReasons, 0, 100, 1, [](double t) { return t >= 50 ? 0x84 : 0x4; });
  const auto out = evaluate(script.run);
  ASSERT_THAT(names(out), testing::ElementsAre("held-power-brake"));
  EXPECT_EQ(out[0].severity, Severity::alarm);
}

TEST(Triggers, ABindingPowerCapIsNoFault) {
  ScriptedRun script(100);
  const auto gpu = add_gpu(script, 100, 99, 690);
  script.every(gpu, kReasons, 0, 100, 1, steady(0x4));
  EXPECT_THAT(evaluate(script.run), IsEmpty());
}

TEST(Triggers, WaitingForInputIsTakenFromTheSteps) {
  ScriptedRun script(100);
  add_steps(script, 0, 100, 1, 0.41);
  const auto out = evaluate(script.run);
  ASSERT_THAT(names(out), testing::ElementsAre("input-wait"));
  EXPECT_EQ(out[0].text, "steps wait for input 41 % of their time (100 steps)");
}

TEST(Triggers, UnlikeRanksAreNamed) {
  ScriptedRun script(200);
  add_steps(script, 0, 100, 1, 0);
  add_steps(script, 1, 100, 1.05, 0);
  EXPECT_THAT(evaluate(script.run), IsEmpty());
  add_steps(script, 2, 100, 1.25, 0);
  const auto out = evaluate(script.run);
  ASSERT_THAT(names(out), testing::ElementsAre("rank-skew"));
  EXPECT_THAT(out[0].text, HasSubstr("rank 2 take 25 % longer than those of rank 0"));
}

TEST(Triggers, PressureIsTimeOfSomeThreadWaiting) {
  ScriptedRun script(100);
  const auto node = script.add(DeviceKind::node, -1);
  script.every(node, metric(DeviceKind::node, "pressure_io"), 0, 100, 1, [](double t) { return 0.5 * t; });
  script.every(node, metric(DeviceKind::node, "pressure_memory"), 0, 100, 1, [](double t) { return 0.15 * t; });
  const auto out = evaluate(script.run);
  EXPECT_THAT(names(out), testing::ElementsAre("io-pressure", "memory-pressure"));
  EXPECT_THAT(out[0].text, HasSubstr("storage 50 % of the time on node1"));
}

TEST(Triggers, IdleCountsOnlyAfterWork) {
  ScriptedRun script(600);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.every(gpu, kBusy, 0, 600, 1, [](double t) { return t < 200 ? 0 : t < 300 || t > 420 ? 95 : 1; });
  const auto out = evaluate(script.run);
  ASSERT_THAT(names(out), testing::ElementsAre("gpu-idle"));
  EXPECT_NEAR(out[0].value, 120, 1);
  EXPECT_THAT(out[0].text, HasSubstr("in mid-run (1 of 1 GPU,"));
}

TEST(Triggers, ALimitBelowTheOneAskedForIsANote) {
  ScriptedRun script(100);
  const auto gpu = add_gpu(script, 100, 99, 480, 500);
  script.every(gpu, kLimitAsked, 0, 100, 1, steady(700));
  const auto out = evaluate(script.run);
  ASSERT_THAT(names(out), testing::ElementsAre("limit-lowered"));
  EXPECT_EQ(out[0].severity, Severity::note);
  EXPECT_THAT(out[0].text, HasSubstr("power limit 500 W in force, 700 W asked for"));
}

TEST(Triggers, TheStrongestStandsFirst) {
  ScriptedRun script(300);
  const auto gpu = add_gpu(script, 300, 99, 266);
  script.every(gpu, kHeldBrake, 0, 300, 1, [](double t) { return 0.01 * t; });
  add_steps(script, 0, 300, 1, 0.5);
  EXPECT_THAT(names(evaluate(script.run)), testing::ElementsAre("held-power-brake", "busy-low-power", "input-wait"));
}

TEST(Triggers, OnlyTheWindowCounts) {
  ScriptedRun script(300);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.every(gpu, kBusy, 0, 300, 1, steady(99));
  script.every(gpu, kPower, 0, 300, 1, [](double t) { return t < 150 ? 200 : 650; });
  script.every(gpu, kLimit, 0, 300, 1, steady(700));
  EXPECT_THAT(evaluate(script.run, {at(0), at(150)}), SizeIs(1));
  EXPECT_THAT(evaluate(script.run, {at(151), at(300)}), IsEmpty());
}

TEST(LiveWindow, SeesWhatTheReportWouldSee) {
  LiveWindow live;
  const auto gpu = static_cast<record::DeviceIndex>(3);
  live.add_device(gpu, {.kind = DeviceKind::gpu, .index = 3});
  for (int i = 0; i <= 60; ++i) {
    auto row = record::empty_row(gpu, DeviceKind::gpu, at(i));
    row.values[record::slot(kBusy)] = 990;
    row.values[record::slot(kPower)] = 266'000;
    row.values[record::slot(kLimit)] = 700'000;
    live.add_row(row);
  }
  const auto out = live.evaluate();
  ASSERT_THAT(out, SizeIs(1));
  EXPECT_EQ(out[0].device, gpu);
  EXPECT_THAT(out[0].text, HasSubstr("busy 99 %, power 38 % of the limit (1 of 1 GPU"));
}

TEST(LiveWindow, HoldsNoMoreThanItsHorizon) {
  LiveWindow live(60'000'000'000);
  const auto gpu = static_cast<record::DeviceIndex>(0);
  live.add_device(gpu, {.kind = DeviceKind::gpu, .index = 0});
  for (int i = 0; i < 5000; ++i) live.add_row(record::empty_row(gpu, DeviceKind::gpu, at(i)));
  EXPECT_LE(live.rows(), 75U);
  EXPECT_GE(live.rows(), 60U);
}

TEST(LiveWindow, StrangersAreIgnoredAndEmptyShowsNothing) {
  LiveWindow live;
  live.add_row(record::empty_row(static_cast<record::DeviceIndex>(7), DeviceKind::gpu, at(1)));
  EXPECT_EQ(live.rows(), 0U);
  EXPECT_THAT(live.evaluate(), IsEmpty());
}

TEST(LiveWindow, StepsAloneAreEnough) {
  LiveWindow live;
  ScriptedRun script(100);
  add_steps(script, 0, 50, 1, 0.6);
  for (const auto& mark : script.run.marks) live.add_mark(mark);
  EXPECT_THAT(names(live.evaluate()), testing::ElementsAre("input-wait"));
}

}  // namespace
}  // namespace gradwatt::diagnosis
