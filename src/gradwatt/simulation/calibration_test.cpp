#include "gradwatt/simulation/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::simulation {
namespace {

using record::Phase;

constexpr std::int64_t kMillisecond = 1'000'000;

void add_step(record::Run& run, std::int32_t rank, std::int64_t number, std::int64_t length_ms,
              std::initializer_list<std::pair<Phase, std::int64_t>> phases_ms) {
  record::Mark mark{.rank = rank, .number = number};
  mark.begin_ns = (1000 + number * 100) * kMillisecond;
  mark.end_ns = mark.begin_ns + length_ms * kMillisecond;
  for (const auto& [phase, ms] : phases_ms) mark.phase_ns[static_cast<std::size_t>(phase)] = ms * kMillisecond;
  run.marks.push_back(mark);
}

/// Two ranks of eleven steps of 60 ms, the first of them slow.
record::Run run_with_phases() {
  record::Run run;
  for (std::int32_t rank = 0; rank < 2; ++rank)
    for (std::int64_t i = 0; i <= 10; ++i)
      add_step(run, rank, i, i == 0 ? 500 : 60,
               {{Phase::data_wait, 2},
                {Phase::forward, 15},
                {Phase::backward, i == 0 ? 400 : 30},
                {Phase::comm_exposed, 9},
                {Phase::optimizer, 3}});
  return run;
}

void add_fact(record::Run& run, std::string name, double value) {
  run.facts.push_back({.name = std::move(name), .subject = "job", .value = value});
}

TEST(Calibration, PhasesAreMediansAndWhatIsLeftOfAStepComputesToo) {
  auto run = run_with_phases();
  add_fact(run, "ddp.parameter_bytes", 1e8);
  add_fact(run, "job.local_batch_size", 32);
  add_fact(run, "job.accumulation_steps", 2);
  const auto got = calibrate(run);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_NEAR(got->job.data_wait_s, 0.002, 1e-9);
  EXPECT_NEAR(got->job.forward_s, 0.015, 1e-9);
  EXPECT_NEAR(got->job.backward_s, 0.030, 1e-9) << "the first steps warm up";
  EXPECT_NEAR(got->job.optimizer_s, 0.004, 1e-9) << "3 ms, and 1 ms that no phase has";
  EXPECT_NEAR(*got->exposed_share, 0.15, 1e-9);
  EXPECT_EQ(got->job.gradient_bytes, 1e8);
  EXPECT_EQ(got->local_batch, 64) << "a step is two passes of 32";
}

TEST(Calibration, ARunWithoutPhasesIsSplitAndSaysSo) {
  record::Run run;
  for (std::int64_t i = 0; i < 5; ++i) add_step(run, 0, i, 90, {});
  add_fact(run, "job.parameters", 25e6);
  const auto got = calibrate(run);
  ASSERT_TRUE(got);
  EXPECT_NEAR(got->job.forward_s, 0.03, 1e-9);
  EXPECT_NEAR(got->job.backward_s, 0.06, 1e-9);
  EXPECT_FALSE(got->exposed_share);
  EXPECT_EQ(got->job.gradient_bytes, 1e8);
  EXPECT_THAT(got->notes, testing::Contains(testing::HasSubstr("a third and two thirds")));
  EXPECT_THAT(got->notes, testing::Contains(testing::HasSubstr("fp32")));
}

TEST(Calibration, TheRunsOwnOverlapWinsOverTheUsualOne) {
  auto run = run_with_phases();
  add_fact(run, "ddp.parameter_bytes", 1e8);
  EXPECT_NEAR(calibrate(run)->job.overlap, usual_overlap(1e8), 1e-12);
  add_fact(run, "ddp.comm_s", 0.02);
  add_fact(run, "ddp.comm_overlap_s", 0.015);
  EXPECT_NEAR(calibrate(run)->job.overlap, 0.75, 1e-12);
}

// 100 MB in buckets of 1 MiB, then 25 MiB: five in all, the last of 100 MB − 1 MiB − 3 · 25 MiB.
TEST(Calibration, UsualBucketsHideAllButTheLast) {
  EXPECT_EQ(usual_pieces(1e8), 5);
  EXPECT_NEAR(usual_overlap(1e8), 1 - (1e8 - 76 * 1048576.0) / 1e8, 1e-12);
  EXPECT_EQ(usual_overlap(1e5), 0) << "one small bucket leaves at the end";
  EXPECT_EQ(usual_pieces(1e5), 1);
}

TEST(Calibration, ARunWithoutStepsIsRefusedWithAWayOut) {
  const auto got = calibrate(record::Run{});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, core::Errc::unusable_input);
  EXPECT_THAT(got.error().message, testing::HasSubstr("--compute-s"));
}

TEST(Calibration, GradientsThatNobodyTellsAreNotGuessed) {
  const auto got = calibrate(run_with_phases());
  ASSERT_TRUE(got);
  EXPECT_FALSE(got->gradients_known);
}

}  // namespace
}  // namespace gradwatt::simulation
