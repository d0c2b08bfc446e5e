// Steps, epochs, regions and the prediction of the whole job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradwatt/energy/mark_energy.hpp"
#include "gradwatt/energy/prediction.hpp"
#include "gradwatt/energy/scripted_run.hpp"
#include "gradwatt/energy/steps.hpp"

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::How;
using record::MarkKind;
using record::metric;
using record::Phase;
using scripted::ScriptedRun;
using testing::Contains;
using testing::HasSubstr;

constexpr auto kEnergy = metric(DeviceKind::gpu, "energy");
constexpr auto kPower = metric(DeviceKind::gpu, "power_inst");

/// Two GPUs of 300 W each by counter.
ScriptedRun two_gpus(double duration_s) {
  ScriptedRun script(duration_s);
  for (int i = 0; i < 2; ++i) {
    const auto gpu = script.add(DeviceKind::gpu, i);
    script.every(gpu, kEnergy, 0, duration_s, 1, [](double t) { return 300 * t; });
    script.quality(gpu, kEnergy).update_ns = 100'000'000;
  }
  return script;
}

void add_steps(ScriptedRun& script, int ranks, int count, double step_s, double from_s = 0) {
  for (int rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < count; ++i) {
      auto& step = script.mark(MarkKind::step, rank, i, from_s + i * step_s, from_s + (i + 1) * step_s);
      step.samples = 32;
      step.phase_ns[static_cast<std::size_t>(Phase::data_wait)] = static_cast<std::int64_t>(step_s * 0.25e9);
    }
}

Steps steps(const ScriptedRun& script) { return summarize(script.run).steps.value(); }

TEST(Steps, RateSamplesAndEnergyOfAllRanks) {
  auto script = two_gpus(100);
  add_steps(script, 2, 200, 0.5);
  const auto out = steps(script);
  EXPECT_EQ(out.count, 200);
  EXPECT_EQ(out.ranks, 2);
  EXPECT_NEAR(*out.steps_per_s, 2, 1e-9);
  EXPECT_EQ(*out.samples, 2 * 200 * 32);
  EXPECT_NEAR(*out.samples_per_s, 128, 1e-9);
  EXPECT_NEAR(*out.energy_per_step_j, 300, 1e-6);
  EXPECT_NEAR(*out.energy_per_sample_j, 600.0 / 128, 1e-6);
  EXPECT_NEAR(*out.step_median_s, 0.5, 1e-9);
  EXPECT_NEAR(*out.phase_share[static_cast<std::size_t>(Phase::data_wait)], 0.25, 1e-9);
  EXPECT_FALSE(out.phase_share[static_cast<std::size_t>(Phase::forward)]);
}

TEST(Steps, SamplesAreUnknownWhenARankIsSilent) {
  auto script = two_gpus(100);
  add_steps(script, 2, 200, 0.5);
  script.fact("job.world_size", 4.0);
  const auto summary = summarize(script.run);
  EXPECT_FALSE(summary.steps->samples);
  EXPECT_FALSE(summary.steps->energy_per_sample_j);
  EXPECT_TRUE(summary.steps->energy_per_step_j);
  EXPECT_THAT(summary.warnings, Contains(HasSubstr("2 of 4 ranks")));
}

TEST(Steps, SamplesAreUnknownWhenAStepDidNotSayThem) {
  auto script = two_gpus(100);
  add_steps(script, 1, 200, 0.5);
  script.run.marks[7].samples.reset();
  EXPECT_FALSE(steps(script).samples);
}

TEST(Steps, NoEnergyForASpanOfLessThanASecond) {
  auto script = two_gpus(100);
  add_steps(script, 1, 18, 0.05);
  EXPECT_FALSE(steps(script).energy_per_step_j);
}

TEST(Steps, AnOccasionalPhaseIsAShareOfAllSteps) {
  auto script = two_gpus(100);
  add_steps(script, 1, 100, 0.5);
  for (auto& mark : script.run.marks) mark.phase_ns[static_cast<std::size_t>(record::Phase::forward)] = 100'000'000;
  script.run.marks[50].phase_ns[static_cast<std::size_t>(record::Phase::evaluation)] = 400'000'000;
  const auto shares = steps(script).phase_share;
  EXPECT_NEAR(*shares[static_cast<std::size_t>(record::Phase::evaluation)], 0.4 / 50, 1e-9);
  EXPECT_NEAR(*shares[static_cast<std::size_t>(record::Phase::forward)], 0.2, 1e-9);
  EXPECT_FALSE(shares[static_cast<std::size_t>(record::Phase::checkpoint)]);
}

TEST(Steps, NoEnergyWhereADeviceMissesTheSpan) {
  auto script = two_gpus(100);
  const auto late = script.add(DeviceKind::gpu, 2);
  script.every(late, kEnergy, 50, 100, 1, [](double t) { return 300 * t; });
  add_steps(script, 1, 200, 0.5);
  EXPECT_FALSE(steps(script).energy_per_step_j);
  EXPECT_TRUE(steps(script).steps_per_s);
}

TEST(Steps, AJobWithoutMarksHasNone) { EXPECT_FALSE(summarize(two_gpus(10).run).steps); }

TEST(MarkEnergy, EpochsAreChargedWithTheWholeJobOnce) {
  auto script = two_gpus(120);
  for (int rank = 0; rank < 2; ++rank)
    for (int epoch = 0; epoch < 2; ++epoch)
      script.mark(MarkKind::epoch, rank, epoch, epoch * 60, epoch * 60 + 60).samples = 1000;
  const auto marks = summarize(script.run).marks;
  ASSERT_EQ(marks.size(), 2U) << "one rank speaks for all";
  EXPECT_NEAR(*marks[0].energy_j, 36'000, 1e-6);
  EXPECT_EQ(marks[0].how, How::counter);
  EXPECT_EQ(*marks[1].samples, 2000);
  EXPECT_NEAR(marks[1].begin_s, 60, 1e-9);
}

TEST(MarkEnergy, ARegionThatBeginsWithTheRunIsNotTheWholeRun) {
  auto script = two_gpus(120);
  script.mark(MarkKind::region, 0, 0, 0, 30).name = "load";
  const auto marks = summarize(script.run).marks;
  EXPECT_NEAR(*marks.at(0).energy_j, 18'000, 1e-6);
}

TEST(MarkEnergy, EdgesBetweenReadingsGiveAnInterval) {
  auto script = two_gpus(120);
  script.mark(MarkKind::region, 0, 0, 10.5, 40.5).name = "evaluate";
  const auto marks = summarize(script.run).marks;
  const auto& mark = marks.at(0);
  EXPECT_NEAR(*mark.energy_j, 18'000, 1e-6);
  EXPECT_NEAR(*mark.high_j - *mark.energy_j, 300, 1e-6) << "four edges of at most 150 J each, in squares";
}

TEST(MarkEnergy, ShortRegionsHaveTimeButNoEnergy) {
  auto script = two_gpus(120);
  script.mark(MarkKind::region, 0, 0, 10, 10.9).name = "save";
  const auto marks = summarize(script.run).marks;
  EXPECT_FALSE(marks.at(0).energy_j);
  EXPECT_NEAR(marks[0].duration_s, 0.9, 1e-9);
}

TEST(MarkEnergy, StepsAppearOnlyFromTenUpdatesOn) {
  auto script = two_gpus(120);
  script.mark(MarkKind::step, 0, 0, 0, 9.5);
  script.mark(MarkKind::step, 0, 1, 9.5, 19.5);
  const auto marks = summarize(script.run).marks;
  ASSERT_EQ(marks.size(), 1U);
  EXPECT_EQ(marks[0].number, 1);
  EXPECT_NEAR(*marks[0].energy_j, 6000, 1e-6);
}

TEST(MarkEnergy, AWindowBeforeTheFirstReadingHasNoEnergy) {
  ScriptedRun script(100);
  script.every(script.add(DeviceKind::gpu, 0), kEnergy, 20, 100, 1, [](double t) { return 300 * t; });
  script.mark(MarkKind::region, 0, 0, 0, 30).name = "import";
  EXPECT_FALSE(summarize(script.run).marks.at(0).energy_j);
}

TEST(MarkEnergy, IntegratedPowerIsSaidToBeSo) {
  ScriptedRun script(100);
  std::mt19937_64 rng(1);
  script.stratified(script.add(DeviceKind::gpu, 0), kPower, 100, 1, rng, [](double) { return 200; });
  script.mark(MarkKind::epoch, 0, 0, 10, 60);
  const auto marks = summarize(script.run).marks;
  EXPECT_NEAR(*marks.at(0).energy_j, 10'000, 1e-6);
  EXPECT_EQ(marks[0].how, How::integrated);
}

Options of_total(std::int64_t steps) {
  Options options;
  options.total_steps = steps;
  return options;
}

TEST(Prediction, ComesFromTheSteadyPartAndNotFromTheWarmUp) {
  // 20 slow first steps of 1 s, then 160 of 0.5 s.
  auto script = two_gpus(100);
  add_steps(script, 1, 20, 1);
  for (int i = 20; i < 180; ++i) script.mark(MarkKind::step, 0, i, 20 + (i - 20) * 0.5, 20.5 + (i - 20) * 0.5);
  const auto out = summarize(script.run, of_total(1180)).prediction;
  ASSERT_TRUE(out);
  EXPECT_EQ(out->done_steps, 180);
  EXPECT_NEAR(out->duration_s, 100 + 1000 * 0.5, 1e-6);
  EXPECT_NEAR(out->energy_j, 600 * 600, 1);
  EXPECT_LE(out->energy_low_j, out->energy_j);
  EXPECT_GE(out->energy_high_j, out->energy_j);
}

TEST(Prediction, OneStallDoesNotMoveItButWidensItsInterval) {
  auto script = two_gpus(140);
  add_steps(script, 1, 100, 0.5);
  add_steps(script, 1, 100, 0.5, 90);  // 40 s of silence in mid-job
  const auto out = summarize(script.run, of_total(2200)).prediction;
  EXPECT_NEAR(out->duration_s, 140 + 2000 * 0.5, 1e-6);
  EXPECT_GT(out->energy_high_j, 600 * (140 + 2000 * 0.7));
}

TEST(Prediction, HoldsTheTruthForANoisyJob) {
  int held = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937_64 rng(seed);
    std::lognormal_distribution<double> noise(std::log(0.5), 0.3);
    std::vector<double> ends{0};
    for (int i = 0; i < 2000; ++i) ends.push_back(ends.back() + noise(rng));
    auto script = two_gpus(ends[200]);
    for (int i = 0; i < 200; ++i)
      script.mark(MarkKind::step, 0, i, ends[static_cast<std::size_t>(i)], ends[static_cast<std::size_t>(i) + 1]);
    const auto out = summarize(script.run, of_total(2000)).prediction.value();
    EXPECT_NEAR(out.energy_j / (600 * ends[2000]), 1, 0.1);
    held += out.energy_low_j <= 600 * ends[2000] && 600 * ends[2000] <= out.energy_high_j ? 1 : 0;
  }
  EXPECT_GE(held, 45);
}

TEST(Prediction, NeedsTwentyStepsATotalAndSomethingToCome) {
  auto script = two_gpus(100);
  add_steps(script, 1, 19, 0.5);
  EXPECT_FALSE(summarize(script.run, of_total(1000)).prediction);
  add_steps(script, 1, 100, 0.5, 10);
  EXPECT_FALSE(summarize(script.run).prediction);
  EXPECT_FALSE(summarize(script.run, of_total(119)).prediction);
  EXPECT_TRUE(summarize(script.run, of_total(120)).prediction);
}

TEST(Prediction, TotalComesFromTheUserThenTheAgentThenEpochs) {
  auto script = two_gpus(100);
  add_steps(script, 1, 100, 0.5);
  script.mark(MarkKind::epoch, 0, 0, 0, 25);
  Options epochs;
  epochs.total_epochs = 4;
  EXPECT_EQ(total_steps(script.run, epochs), 200);
  script.fact("job.epochs", 3.0);
  EXPECT_EQ(total_steps(script.run, {}), 150);
  script.fact("job.total_steps", 777.0);
  EXPECT_EQ(total_steps(script.run, {}), 777);
  EXPECT_EQ(total_steps(script.run, epochs), 200);
  EXPECT_EQ(total_steps(script.run, of_total(9)), 9);
}

}  // namespace
}  // namespace gradwatt::energy
