#include "gradwatt/planning/job_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "gradwatt/planning/example_job.hpp"

namespace gradwatt::planning {
namespace {

using ::testing::HasSubstr;

Setting on(double gpus) { return {.gpus = gpus, .gpus_per_node = 4, .local_batch = 100}; }

TEST(JobModel, MultipliesSamplesStepsAndStepTime) {
  const auto p = point(example_job(), on(1));
  EXPECT_DOUBLE_EQ(p.samples, 1e7);
  EXPECT_DOUBLE_EQ(p.steps, 1e5);
  EXPECT_NEAR(p.time_s, 1e5 * 0.12, 1e-6);
  EXPECT_NEAR(p.gpu_hours, p.time_s / 3600, 1e-9);
}

TEST(JobModel, MoreGpusTakeLessTimeAndMoreGpuHoursAndTheIntervalHoldsThePoint) {
  const auto four = predict(example_job(), on(4)), many = predict(example_job(), on(64));
  ASSERT_TRUE(four.time_s.figure && many.time_s.figure && many.energy_j.figure);
  EXPECT_LT(many.time_s.figure->value, four.time_s.figure->value);
  EXPECT_GT(many.gpu_hours.figure->value, four.gpu_hours.figure->value);
  EXPECT_GT(many.energy_j.figure->value, four.energy_j.figure->value);
  EXPECT_GT(many.time_s.figure->high90 / many.time_s.figure->low90,
            four.time_s.figure->high90 / four.time_s.figure->low90);
  EXPECT_THAT(many.time_s.origin, HasSubstr("extrapolated"));
}

TEST(JobModel, EvaluationAndStartUpAreCounted) {
  auto with = example_job();
  with.evaluation = {.samples = 1000, .every_samples = 1e6, .sample_s = 0.0005, .fixed_s = 2};
  with.start_up = {30, 0.3};
  EXPECT_NEAR(point(with, on(1)).time_s - point(example_job(), on(1)).time_s, 30 + 10 * (0.5 + 2), 1e-6);
}

TEST(JobModel, ADataSetThatGrowsWithTheGpusKeepsTheSteps) {
  auto grown = on(8);
  grown.dataset_samples = 8e6;
  EXPECT_DOUBLE_EQ(point(example_job(), grown).steps, point(example_job(), on(1)).steps);
}

TEST(JobModel, AKnownTimeTurnsTheRestIntoWaiting) {
  const auto p = point(example_job(), on(16));
  const auto longer = point_given_time(example_job(), on(16), 2 * p.time_s);
  EXPECT_DOUBLE_EQ(longer.times.busy_s, p.times.busy_s);
  EXPECT_NEAR(longer.times.wait_s, p.times.wait_s + p.time_s, 1e-6);
  EXPECT_LT(longer.energy.total_j, 2 * p.energy.total_j);
}

TEST(JobModel, ACapSlowsTheWorkAndLowersItsPower) {
  auto capped = example_job();
  std::vector<CapMeasurement> profile;
  for (const double cap : {180.0, 240.0, 400.0})
    profile.push_back({cap, 0.12 / std::min(1.0, (std::min(cap, 300.0) - 60) / 180), std::min(cap, 300.0)});
  capped.cap = *fit_power_cap(profile);
  auto low = on(4);
  low.cap_w = 200;
  EXPECT_GT(point(capped, low).time_s, point(capped, on(4)).time_s);
  EXPECT_LT(point(capped, low).energy.gpu_busy_j, point(capped, on(4)).energy.gpu_busy_j);
  low.cap_w = 100;
  EXPECT_THAT(predict(capped, low).time_s.origin, HasSubstr("below the lowest profiled"));
  EXPECT_THAT(predict(example_job(), low).time_s.origin, HasSubstr("no power cap was profiled"));
}

TEST(JobModel, SaysWhatIsMissingInsteadOfAFigure) {
  auto endless = example_job();
  endless.epochs.reset();
  EXPECT_THAT(predict(endless, on(4)).time_s.origin, HasSubstr("how long the job is"));
  auto unpowered = example_job();
  unpowered.energy.reset();
  const auto p = predict(unpowered, on(4));
  EXPECT_TRUE(p.time_s.figure);
  EXPECT_FALSE(p.energy_j.figure);
  EXPECT_THAT(p.energy_j.origin, HasSubstr("no power was measured"));
  auto gpu_only = example_job();
  gpu_only.energy = *fit_node_energy({});
  EXPECT_THAT(predict(gpu_only, on(4)).energy_j.origin, HasSubstr("only the GPUs were measured"));
  auto half = on(6);
  half.gpus_per_replica = 4;
  EXPECT_THAT(predict(example_job(), half).time_s.origin, HasSubstr("no whole number of replicas"));
  EXPECT_FALSE(predict(example_job(), {.gpus = 0}).time_s.figure);
}

TEST(JobModel, ABatchAtWhichTrainingFailedHasNoTime) {
  auto targeted = example_job();
  const std::vector<TrainingOutcome> outcomes{{200, 5e6}, {400, 6e6}, {800, 8e6}, {1600, {}}};
  targeted.convergence = *fit_convergence(outcomes);
  EXPECT_TRUE(predict(targeted, on(4)).time_s.figure);
  EXPECT_THAT(predict(targeted, on(16)).time_s.origin, HasSubstr("did not converge"));
}

}  // namespace
}  // namespace gradwatt::planning
