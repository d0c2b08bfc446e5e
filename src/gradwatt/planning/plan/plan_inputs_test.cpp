// What a plan is made of: sizes near a profile, other GPUs, other exchanges, and runs held against predictions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gradwatt/planning/cluster/cluster_file.hpp"
#include "gradwatt/planning/plan/other_gpu.hpp"
#include "gradwatt/planning/plan/profile_axes.hpp"
#include "gradwatt/planning/plan/residual.hpp"
#include "gradwatt/planning/plan/strategies.hpp"

namespace gradwatt::planning {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<ProfileRow> rows() {
  auto read = profile_table(
      "gpus,nodes,local_batch,step_s,sync_s,power_w,node_power_w\n"
      "1,1,64,0.100,,300,700\n2,1,64,0.110,0.010,290,1000\n4,1,64,0.115,0.015,285,1550\n4,1,32,0.070,0.015,270,1490\n");
  EXPECT_TRUE(read);
  return *read;
}
HardwareOption measured() { return {.name = "A100 SXM4 40GB", .job = *fit_profile(rows()), .most_local_batch = 64}; }
double spread(const Figure& figure) { return figure.high90 / figure.low90; }

TEST(ProfileAxes, GoEightTimesBeyondTheProfileInWholeNodesWithEachBatchKeptBothWays) {
  const auto axes = axes_of(rows());
  EXPECT_THAT(axes.gpus, ElementsAre(1, 2, 4, 8, 16, 32));
  EXPECT_EQ(axes.gpus_per_node, 4);
  EXPECT_EQ(axes.batches.size(), 2U + 3U);  // local 32, 64; global 64, 128, 256
}

TEST(OtherGpu, IsFasterWithinARangeThatGoesIntoEveryInterval) {
  const auto* from = catalog::find_gpu("A100 SXM4 40GB");
  const auto* to = catalog::find_gpu("H100 SXM5 80GB");
  ASSERT_TRUE(from != nullptr && to != nullptr);
  const auto here = measured();
  const auto there = on_other_gpu(here, *from, *to, {});
  ASSERT_TRUE(there) << there.error().message;
  const StepLoad load{1, 1, 64, 1};
  EXPECT_LT(step_time(there->job.throughput, load).step_s, step_time(here.job.throughput, load).step_s);
  EXPECT_GT(spread(step_figure(there->job.throughput, load)), spread(step_figure(here.job.throughput, load)));
  EXPECT_GT(node_power(*there->job.energy).active_w, node_power(*here.job.energy).active_w);
  EXPECT_EQ(there->most_local_batch, 64);
  EXPECT_THAT(there->origin, HasSubstr("carried over from A100 SXM4 40GB"));
}

TEST(OtherGpu, WithLessMemoryFitsLess) {
  const auto* from = catalog::find_gpu("A100 SXM4 40GB");
  const auto* to = catalog::find_gpu("V100 SXM2 16GB");
  ASSERT_TRUE(from != nullptr && to != nullptr);
  const auto there = on_other_gpu(measured(), *from, *to, {});
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_LT(*there->most_local_batch, 64 * 0.41);
}

TEST(OtherGpu, AnUnknownNameSaysWhichAreMeant) {
  const auto found = gpu_by_name("A100");
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("A100 SXM4 40GB"));
}

TEST(Strategies, CostWhatTheirClosedFormsSayAgainstTheUsualOne) {
  const auto cluster = parse_cluster(
      "nodes = 16\ngpus_per_node = 4\nnode_link_gbyte_per_s = 200\nnode_link_us = 2\nnics = 1\nnic_gbit_per_s = 10\n"
      "nic_us = 5\ngpu_idle_w = 60\ngpu_busy_w = 290\ngpu_comm_w = 130\nbase_w = 400\n",
      "test");
  ASSERT_TRUE(cluster) << cluster.error().message;
  const auto ratio = [&](std::string_view name) {
    return strategy_option(name, *cluster, 1e8)->cost_ratio({.nodes = 8, .gpus_per_node = 4});
  };
  EXPECT_FALSE(strategy_option("two-level", *cluster, 1e8)->cost_ratio);
  EXPECT_LT(ratio("one-bit"), 0.3);
  EXPECT_NEAR(ratio("local-sgd"), 1.0 / 8, 1e-9);
  EXPECT_FALSE(strategy_option("gossip", *cluster, 1e8));
}

TEST(Residual, HoldsEachMeasuredTermAgainstThePrediction) {
  const auto job = measured().job;
  auto run = rows()[2];
  run.step.step_s *= 1.5;
  const auto residuals = residuals_of(job, run);
  ASSERT_TRUE(residuals) << residuals.error().message;
  ASSERT_EQ(residuals->size(), 4U);
  EXPECT_EQ(residuals->front().term, "step");
  EXPECT_NEAR(residuals->front().ratio(), 1.5, 0.1);
  EXPECT_FALSE(residuals->front().inside());
  for (const auto& r : *residuals)
    if (r.unit == "W") {
      EXPECT_NEAR(r.ratio(), 1, 0.1) << r.term;
    }
}

TEST(Residual, ARunThatTheModelCannotSayIsAnErrorWithTheReason) {
  auto run = rows()[2];
  run.step.load.nodes = 2;
  const auto residuals = residuals_of(measured().job, run);
  ASSERT_FALSE(residuals);
  EXPECT_THAT(residuals.error().message, HasSubstr("two nodes"));
}

}  // namespace
}  // namespace gradwatt::planning
