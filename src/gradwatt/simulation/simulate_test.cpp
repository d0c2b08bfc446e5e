#include "gradwatt/simulation/simulate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradwatt/planning/collectives/one_bit.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/planning/collectives/two_level.hpp"
#include "gradwatt/simulation/test_clusters.hpp"

namespace gradwatt::simulation {
namespace {

/// 10 ms forward, 20 ms backward, 2 ms optimizer.
Job job_of(StrategyKind kind, double bytes = 100e6) {
  Job job{.forward_s = 10e-3, .backward_s = 20e-3, .optimizer_s = 2e-3, .gradient_bytes = bytes};
  for (const auto& info : strategies())
    if (info.usual.kind == kind) job.strategy = info.usual;
  return job;
}

Outcome done(const Request& request) {
  const auto outcome = simulate(request);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome.value_or(Outcome{});
}

double step_s(const Outcome& outcome, int step, int node = 0) {
  return outcome.at(step, node).end_s - (step > 0 ? outcome.at(step - 1, node).end_s : 0);
}

// 32 ms a step, nothing to exchange: 3 · (0.032 s · 300 W) = 28.8 J.
TEST(Simulation, OneGpuAloneComputesAndDrawsBusyWatts) {
  const auto outcome = done({.cluster = star(1), .job = job_of(StrategyKind::two_level), .steps = 3});
  EXPECT_NEAR(outcome.at(2, 0).end_s, 0.096, 1e-9);
  EXPECT_NEAR(outcome.at(2, 0).node_energy_j, 28.8, 1e-6);
  EXPECT_EQ(outcome.messages, 0);
}

// Two nodes, ring of 100 MB: 2 rounds of 5 µs + 5 ms = 10.01 ms, waiting at 200 W: 32 ms · 300 W + 10.01 ms · 200 W.
TEST(Simulation, WaitingForAnExchangeDrawsCommunicationWatts) {
  const auto outcome = done({.cluster = star(2), .job = job_of(StrategyKind::ring), .steps = 1});
  for (const int node : {0, 1}) {
    EXPECT_NEAR(outcome.at(0, node).exposed_s, 10.01e-3, 1e-8);
    EXPECT_NEAR(outcome.at(0, node).node_energy_j, 0.032 * 300 + 0.01001 * 200, 1e-5);
  }
}

// A node of 2 GPUs, 2 · 40 W of CPU, 50 W base and 10 W network; 4 ms waiting for data. A step: 4 ms idle, 32 ms busy,
// exchange in the node 2 · (1 µs + 0.5 ms) = 1.002 ms.
//   energy = 0.004 · 200 + 0.032 · 600 + 0.001002 · 400 + 0.037002 · 140
TEST(Simulation, AllThatStandsInANodeCounts) {
  auto cluster = star(1, 2);
  auto& node = cluster.kinds.front();
  node.cpus = 2, node.cpu_w = 40, node.base_w = 50, node.network_w = 10;
  auto job = job_of(StrategyKind::two_level);
  job.data_wait_s = 4e-3;
  const auto outcome = done({.cluster = cluster, .job = job, .steps = 1});
  EXPECT_NEAR(outcome.at(0, 0).end_s, 0.037002, 1e-9);
  EXPECT_NEAR(outcome.at(0, 0).node_energy_j, 0.004 * 200 + 0.032 * 600 + 0.001002 * 400 + 0.037002 * 140, 1e-5);
}

// The cable draws 10 W, at full load 30 W: 42.01 ms · 10 W, and the 20 MB … of both directions for 10 ms at 20 W more.
TEST(Simulation, CablesDrawTheirWattsWhenTheFileSaysThem) {
  auto cluster = star(2);
  cluster.network.link_idle_w = 10, cluster.network.link_busy_w = 30;
  const auto outcome = done({.cluster = cluster, .job = job_of(StrategyKind::ring), .steps = 1});
  EXPECT_NEAR(outcome.at(0, 0).link_energy_j, 0.04201 * 10 + 0.010 * 20, 1e-3);
}

TEST(Simulation, TwoLevelsTakeTheirClosedFormWhereNothingOverlaps) {
  const auto cluster = star(4, 4);
  const auto outcome = done({.cluster = cluster, .job = job_of(StrategyKind::two_level), .steps = 1});
  const auto cost = two_level_sharded(cluster.shape(), 100e6, kTestNodeLink, cluster.rail());
  EXPECT_NEAR(outcome.at(0, 0).exposed_s, cost.seconds(), 0.01 * cost.seconds());
}

TEST(Simulation, ARingThroughAllGpusTakesItsClosedForm) {
  const auto cluster = star(4, 4);
  for (const double bytes : {1e5, 100e6}) {
    const auto outcome = done({.cluster = cluster, .job = job_of(StrategyKind::ring, bytes), .steps = 1});
    const auto cost = ring_over_nodes(cluster.shape(), bytes, kTestNodeLink, kTestNic);
    EXPECT_NEAR(outcome.at(0, 0).exposed_s, cost.seconds(), 0.02 * cost.seconds()) << bytes;
  }
}

TEST(Simulation, OneBitTakesItsClosedForm) {
  const auto cluster = star(4, 4);
  const auto outcome = done({.cluster = cluster, .job = job_of(StrategyKind::one_bit), .steps = 1});
  const auto cost = one_bit_all_reduce(cluster.shape(), 100e6, kTestNodeLink, cluster.rail());
  EXPECT_NEAR(outcome.at(0, 0).exposed_s, cost.seconds(), 0.1 * cost.seconds());
}

// Half of the gradients travels from 1 ms of the backward pass on and is through before its end: 5 ms of 10 stay.
TEST(Simulation, WhatTravelsDuringTheBackwardPassIsHidden) {
  auto job = job_of(StrategyKind::ring);
  job.overlap = 0.5;
  const auto outcome = done({.cluster = star(2), .job = job, .steps = 1});
  EXPECT_NEAR(outcome.at(0, 0).exposed_s, 5.01e-3, 1e-5);
}

TEST(Simulation, EachPieceHasItsLatency) {
  auto job = job_of(StrategyKind::ring, 1e3);
  job.pieces = 11;
  const auto many = done({.cluster = star(2), .job = job, .steps = 1});
  job.pieces = 1;
  const auto one = done({.cluster = star(2), .job = job, .steps = 1});
  EXPECT_NEAR(many.at(0, 0).exposed_s - one.at(0, 0).exposed_s, 2 * 10 * 5e-6, 1e-9);
}

// 200 nodes: 398 rounds in 199 messages, whose time must stay that of the formula with all latencies of all pieces.
TEST(Simulation, LargeRingsMergeRoundsAndKeepTheirTime) {
  auto job = job_of(StrategyKind::two_level, 50e6);
  const auto one = done({.cluster = star(200), .job = job, .steps = 1});
  const double formula = ring_all_reduce(200, 50e6, kTestNic).seconds;
  EXPECT_NEAR(one.at(0, 0).exposed_s, formula, 0.01 * formula);
  EXPECT_EQ(one.messages, 200 * 199);
  job.pieces = 4;
  const auto four = done({.cluster = star(200), .job = job, .steps = 1});
  EXPECT_NEAR(four.at(0, 0).exposed_s - one.at(0, 0).exposed_s, 398 * 3 * 5e-6, 1e-5);
}

TEST(Simulation, EqualStepsAreRepeatedAndSayTheSameAsIfSimulated) {
  for (const auto& info : strategies()) {
    Request request{.cluster = star(4, 2), .job = job_of(info.usual.kind), .steps = 40};
    request.job.overlap = 0.5;
    const auto repeated = done(request);
    request.every_step = true;
    const auto all = done(request);
    EXPECT_LT(repeated.simulated_steps, 40) << info.name;
    EXPECT_EQ(all.simulated_steps, 40) << info.name;
    ASSERT_EQ(repeated.step_count(), 40) << info.name;
    for (const int node : {0, 3}) {
      EXPECT_NEAR(repeated.at(39, node).end_s, all.at(39, node).end_s, 2e-3 * all.at(39, node).end_s) << info.name;
      EXPECT_NEAR(repeated.at(39, node).node_energy_j, all.at(39, node).node_energy_j,
                  2e-3 * all.at(39, node).node_energy_j)
          << info.name;
    }
  }
}

// Node 1 computes at half speed: 64 ms. The others wait 32 ms more, and draw communication watts meanwhile.
TEST(Simulation, AStragglerMakesAllOthersWait) {
  auto cluster = star(3);
  auto slow = cluster.kinds.front();
  slow.speed = 0.5;
  cluster.kinds.push_back(slow);
  cluster.kind_of[1] = 1;
  const auto outcome = done({.cluster = cluster, .job = job_of(StrategyKind::ring, 30e6), .steps = 1});
  EXPECT_NEAR(outcome.at(0, 1).forward_s, 20e-3, 1e-9);
  EXPECT_NEAR(outcome.at(0, 0).exposed_s - outcome.at(0, 1).exposed_s, 30e-3, 1e-4);
  EXPECT_NEAR(outcome.at(0, 0).node_energy_j, 0.032 * 300 + outcome.at(0, 0).exposed_s * 200, 1e-3);
}

TEST(Simulation, StaleGradientsHideAnExchangeBehindTheNextStep) {
  const auto stale = done({.cluster = star(4), .job = job_of(StrategyKind::stale), .steps = 6, .every_step = true});
  EXPECT_NEAR(step_s(stale, 5), 32e-3, 1e-6) << "15 ms of exchange fit into a step of 32 ms";
  const auto longer =
      done({.cluster = star(4), .job = job_of(StrategyKind::stale, 400e6), .steps = 8, .every_step = true});
  EXPECT_NEAR(step_s(longer, 7), 60.03e-3, 1e-4) << "60 ms of exchange are the pace";
}

TEST(Simulation, LocalSgdExchangesOnceInAPeriod) {
  auto job = job_of(StrategyKind::local_sgd);
  job.strategy.period = 4;
  const auto outcome = done({.cluster = star(4), .job = job, .steps = 8, .every_step = true});
  EXPECT_NEAR(step_s(outcome, 0), 32e-3, 1e-9);
  EXPECT_NEAR(step_s(outcome, 3), 32e-3 + 15.03e-3, 1e-6);
  EXPECT_NEAR(step_s(outcome, 4), 32e-3, 1e-9);
  EXPECT_EQ(outcome.messages, 2 * 6 * 4);
}

TEST(Simulation, DasoMergesLaterWhatFitsBehindTheNextStep) {
  auto job = job_of(StrategyKind::daso);
  const auto hidden = done({.cluster = star(4), .job = job, .steps = 8, .every_step = true});
  EXPECT_NEAR(step_s(hidden, 4), 32e-3, 1e-5) << "15 ms of exchange hide";
  job.strategy.wait = 0;
  const auto blocking = done({.cluster = star(4), .job = job, .steps = 8, .every_step = true});
  EXPECT_NEAR(step_s(blocking, 3), 32e-3 + 15.03e-3, 1e-5);
}

TEST(Simulation, SharedUplinksMakeAStepLonger) {
  auto job = job_of(StrategyKind::one_bit, 3200e6);
  const auto free = done({.cluster = fat_tree(8, 4, 1), .job = job, .steps = 1});
  const auto shared = done({.cluster = fat_tree(8, 4, 4), .job = job, .steps = 1});
  EXPECT_GT(shared.at(0, 0).exposed_s, 1.5 * free.at(0, 0).exposed_s);
}

TEST(Simulation, AJobThatMakesNoSenseIsRefusedInASentence) {
  const auto refusal = [](Job job, int steps = 1) {
    const auto outcome = simulate({.cluster = star(2), .job = job, .steps = steps});
    return outcome ? "accepted" : outcome.error().message;
  };
  auto job = job_of(StrategyKind::ring);
  EXPECT_EQ(refusal(job, 0), "0 steps make no sense");
  job.overlap = 1.5;
  EXPECT_EQ(refusal(job), "overlap = 1.5 is no share from 0 to 1");
  job = job_of(StrategyKind::daso);
  job.strategy.wait = 4;
  EXPECT_THAT(refusal(job), testing::HasSubstr("daso waits fewer steps"));
  EXPECT_EQ(refusal(Job{.gradient_bytes = 1}), "a step that computes nothing has no time");
  job = job_of(StrategyKind::ring, -1);
  EXPECT_EQ(refusal(job), "gradient bytes = -1 makes no sense");
}

TEST(Strategies, HaveNamesAndAreFoundByThem) {
  for (const auto& info : strategies()) {
    const auto found = strategy_by_name(info.name);
    ASSERT_TRUE(found) << info.name;
    EXPECT_EQ(name_of(found->kind), info.name);
  }
  EXPECT_TRUE(strategy_by_name("1-bit"));
  const auto unknown = strategy_by_name("gossip");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, testing::HasSubstr("there are two-level, ring, tree"));
}

}  // namespace
}  // namespace gradwatt::simulation
