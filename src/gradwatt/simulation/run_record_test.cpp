#include "gradwatt/simulation/run_record.hpp"

#include <gtest/gtest.h>

#include "gradwatt/energy/summary.hpp"
#include "gradwatt/simulation/calibration.hpp"
#include "gradwatt/simulation/test_clusters.hpp"

namespace gradwatt::simulation {
namespace {

/// Two nodes of two GPUs, three steps of 0.5 s: 0.3 s computing, 0.2 s exchange.
struct Example {
  Request request{
      .cluster = star(2, 2), .job = {.forward_s = 0.1, .backward_s = 0.2, .gradient_bytes = 1e8}, .steps = 3};
  Outcome outcome{.nodes = 2, .simulated_steps = 3};

  Example() {
    auto& node = request.cluster.kinds.front();
    node.cpus = 1, node.cpu_w = 50, node.base_w = 90, node.network_w = 10;
    for (int step = 0; step < 3; ++step)
      for (int i = 0; i < 2; ++i)
        outcome.steps.push_back({.end_s = 0.5 * (step + 1),
                                 .forward_s = 0.1,
                                 .backward_s = 0.2,
                                 .exposed_s = 0.2,
                                 .node_energy_j = (step + 1) * (0.3 * 600 + 0.2 * 400 + 0.5 * 150)});
  }
  [[nodiscard]] record::Run run() const {
    return run_record_of(request, outcome, {.run_id = "sim-1", .name = "what if", .local_batch = 8, .wall_ns = 1});
  }
};

TEST(SimulatedRecord, ReportsReadItLikeAnyOtherRun) {
  const auto summary = energy::summarize(Example().run());
  EXPECT_NEAR(summary.duration_s, 1.5, 1e-6);
  ASSERT_TRUE(summary.energy.energy_j);
  // Two nodes, three steps: GPUs (180 + 80) J, CPU 25 J, rest 50 J.
  EXPECT_NEAR(*summary.energy.energy_j, 2 * 3 * (260 + 25 + 50), 0.1);
  EXPECT_EQ(summary.energy.how, record::How::estimated);
  EXPECT_EQ(summary.energy.where, record::Where::simulated);
  EXPECT_NEAR(*summary.energy.components[0].energy_j, 2 * 3 * 260, 0.1);
  EXPECT_NEAR(*summary.energy.components[1].energy_j, 2 * 3 * 25, 0.1);
  EXPECT_NEAR(*summary.energy.components.back().energy_j, 2 * 3 * 50, 0.1) << "base and network";
  ASSERT_TRUE(summary.steps);
  EXPECT_EQ(summary.steps->count, 3);
  EXPECT_EQ(summary.steps->ranks, 4);
  EXPECT_EQ(summary.steps->samples, 3 * 4 * 8);
  EXPECT_NEAR(*summary.steps->phase_share[static_cast<std::size_t>(record::Phase::comm_exposed)], 0.4, 1e-6);
}

TEST(SimulatedRecord, WhatTheFileDoesNotTellIsInNoTotal) {
  Example example;
  auto& node = example.request.cluster.kinds.front();
  node.cpu_w.reset(), node.base_w.reset(), node.network_w.reset();
  for (auto& step : example.outcome.steps) step.node_energy_j = step.end_s / 0.5 * 260;
  const auto summary = energy::summarize(example.run());
  EXPECT_FALSE(summary.energy.components[1].energy_j);
  EXPECT_NEAR(*summary.energy.energy_j, 2 * 3 * 260, 0.1);
}

TEST(SimulatedRecord, ASimulatedJobCanBeSimulatedAgain) {
  const auto again = calibrate(Example().run());
  ASSERT_TRUE(again);
  EXPECT_NEAR(again->job.forward_s, 0.1, 1e-6);
  EXPECT_NEAR(*again->exposed_share, 0.4, 1e-6);
  EXPECT_TRUE(again->gradients_known);
  EXPECT_EQ(again->local_batch, 8);
}

TEST(SimulatedRecord, ACappedGpuSaysItsLimit) {
  Example example;
  example.request.cluster.kinds.front().gpu_cap_w = 250;
  const auto run = example.run();
  EXPECT_EQ(run.devices.front().attributes.at("power_limit_enforced_w"), "250");
}

TEST(SimulatedRecord, LargeClustersGetFewerReadingsAndAllSteps) {
  Request request{.cluster = star(500, 8), .job = {.forward_s = 0.1}, .steps = 50};
  Outcome outcome{.nodes = 500, .simulated_steps = 50};
  for (int step = 0; step < 50; ++step)
    for (int i = 0; i < 500; ++i) outcome.steps.push_back({.end_s = 0.1 * (step + 1), .forward_s = 0.1});
  const auto run = run_record_of(request, outcome, {.run_id = "big"});
  EXPECT_EQ(run.marks.size(), 500U * 8 * 50);
  EXPECT_LT(run.series.front().size(), 50U);
  EXPECT_EQ(run.series.front().time_ns.back(), run.marks.back().end_ns) << "the end is always read";
}

}  // namespace
}  // namespace gradwatt::simulation
