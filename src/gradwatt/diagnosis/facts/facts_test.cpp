#include "gradwatt/diagnosis/facts/facts.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace gradwatt::diagnosis {
namespace {

using record::Phase;

constexpr std::int64_t kMillisecond = 1'000'000;

struct StepShape {
  double wait_ms = 0, forward_ms = 10, backward_ms = 20, checkpoint_ms = 0;
};

/// Steps of one rank, one behind the other.
void add_steps(record::Run& run, std::int32_t rank, std::size_t count,
               const std::function<StepShape(std::size_t)>& shape) {
  std::int64_t now = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto s = shape(i);
    record::Mark mark{.rank = rank, .name = {}, .number = static_cast<std::int64_t>(i), .begin_ns = now, .samples = 32};
    const auto set = [&](Phase phase, double ms) {
      mark.phase_ns[static_cast<std::size_t>(phase)] = static_cast<std::int64_t>(ms * kMillisecond);
      now += static_cast<std::int64_t>(ms * kMillisecond);
    };
    set(Phase::data_wait, s.wait_ms);
    set(Phase::forward, s.forward_ms);
    set(Phase::backward, s.backward_ms);
    if (s.checkpoint_ms > 0) set(Phase::checkpoint, s.checkpoint_ms);
    mark.end_ns = now;
    run.marks.push_back(mark);
  }
  run.set(record::meta::kJobBegin, 0);
  run.set(record::meta::kJobEnd, now);
}

TEST(Facts, SayHowMuchOfAStepWaitsForItsBatch) {
  record::Run run;
  add_steps(run, 0, 100, [](std::size_t) { return StepShape{.wait_ms = 10}; });
  const auto facts = facts_of(run);
  EXPECT_NEAR(facts.number("step.data_wait_share").value_or(-1), 0.25, 1e-6);
  EXPECT_NEAR(facts.number("step.time_s").value_or(-1), 0.040, 1e-6);
  EXPECT_NEAR(facts.number("step.samples_per_s").value_or(-1), 800, 1);
  EXPECT_EQ(facts.number("step.checkpoint_share"), 0) << "no step tells a checkpoint, and steps tell their phases";
}

TEST(Facts, LeaveOutTheStart) {
  record::Run run;
  add_steps(run, 0, 200, [](std::size_t i) { return StepShape{.wait_ms = i < 15 ? 200.0 : 0.0}; });
  EXPECT_LT(facts_of(run).number("step.data_wait_share").value_or(1), 0.05);
}

TEST(Facts, FindPausesThatComeRegularly) {
  record::Run run;
  add_steps(run, 0, 200, [](std::size_t i) { return StepShape{.wait_ms = i % 20 == 19 ? 300.0 : 0.0}; });
  const auto facts = facts_of(run);
  EXPECT_NEAR(facts.number("step.stall_every_steps").value_or(0), 20, 0.5);
  EXPECT_NEAR(facts.number("step.stall_s").value_or(0), 0.3, 0.01);
}

TEST(Facts, NameTheRankThatTheOthersWaitFor) {
  // Rank 1 waits 30 ms for its batch; the others wait for it inside backward().
  record::Run run;
  for (std::int32_t rank = 0; rank < 4; ++rank)
    add_steps(run, rank, 60, [&](std::size_t) {
      return rank == 1 ? StepShape{.wait_ms = 30} : StepShape{.wait_ms = 0, .backward_ms = 50};
    });
  const auto facts = facts_of(run);
  EXPECT_EQ(facts.number("rank.culprit"), 1);
  EXPECT_NEAR(facts.number("rank.skew_share").value_or(0), 1.0, 0.05);
  EXPECT_EQ(facts.number("rank.culprit_stays"), 1);
  EXPECT_NEAR(facts.number("rank.wait_s", "rank 0").value_or(0), 0.030, 0.001);
}

TEST(Facts, SeeASlowProcessorThoughAllBackwardPassesTakeAsLong) {
  record::Run run;
  for (std::int32_t rank = 0; rank < 2; ++rank)
    add_steps(run, rank, 60, [&](std::size_t) {
      return rank == 0 ? StepShape{.forward_ms = 20, .backward_ms = 40}
                       : StepShape{.forward_ms = 10, .backward_ms = 50};
    });
  const auto facts = facts_of(run);
  EXPECT_EQ(facts.number("rank.culprit"), 0);
  EXPECT_NEAR(facts.number("rank.skew_share").value_or(0), 1.0, 0.05);
}

TEST(Facts, TakeTheReducersOwnTimesWhereAllRanksSayThem) {
  record::Run run;
  // Rank 0's forward pass is slow and its backward pass is not: by a common multiple rank 1 would seem to wait for
  // long.
  add_steps(run, 0, 60, [](std::size_t) { return StepShape{.forward_ms = 16, .backward_ms = 24}; });
  add_steps(run, 1, 60, [](std::size_t) { return StepShape{.forward_ms = 11, .backward_ms = 29}; });
  EXPECT_GT(facts_of(run).number("rank.skew_share").value_or(0), 0.3);
  for (std::int32_t rank = 0; rank < 2; ++rank)
    run.facts.push_back(
        {.name = "ddp.comm_s", .subject = "rank " + std::to_string(rank), .value = rank == 0 ? 0.0035 : 0.007});
  const auto facts = facts_of(run);
  EXPECT_LT(facts.number("rank.skew_share").value_or(1), 0.1);
  EXPECT_NEAR(facts.number("rank.wait_s", "rank 1").value_or(0), 0.0035, 1e-4);
}

TEST(Facts, FindNoCulpritAmongEqualRanks) {
  record::Run run;
  for (std::int32_t rank = 0; rank < 4; ++rank) add_steps(run, rank, 60, [](std::size_t) { return StepShape{}; });
  EXPECT_LT(facts_of(run).number("rank.skew_share").value_or(1), 0.01);
}

TEST(Facts, OfAnEmptyRunAreThoseThatItBrings) {
  record::Run run;
  run.facts.push_back({.name = "loader.workers", .subject = "process", .value = 4.0});
  EXPECT_EQ(facts_of(run).number("loader.workers"), 4);
  EXPECT_FALSE(facts_of(run).number("step.time_s"));
}

TEST(Facts, WhatTheRunSaysItselfWinsOverWhatIsComputed) {
  record::Run run;
  add_steps(run, 0, 100, [](std::size_t) { return StepShape{.wait_ms = 10}; });
  run.facts.push_back({.name = "step.data_wait_share", .subject = "job", .value = 0.5});
  EXPECT_EQ(facts_of(run).number("step.data_wait_share"), 0.5);
}

TEST(Facts, EachHasARowInTheTable) {
  record::Run run;
  for (std::int32_t rank = 0; rank < 2; ++rank)
    add_steps(run, rank, 60, [](std::size_t i) { return StepShape{.checkpoint_ms = i % 10 == 0 ? 5.0 : 0.0}; });
  const auto facts = facts_of(run);
  for (const auto& fact : facts.facts()) EXPECT_NE(record::find_fact(fact.name), nullptr) << fact.name;
}

}  // namespace
}  // namespace gradwatt::diagnosis
