// All-reduces whose messages are all simulated, against the closed forms of planning/collectives.
#include <gtest/gtest.h>

#include "gradwatt/planning/collectives/halving_doubling.hpp"
#include "gradwatt/planning/collectives/recursive_doubling.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/planning/collectives/tree.hpp"
#include "gradwatt/planning/collectives/two_level.hpp"
#include "gradwatt/simulation/schedules.hpp"
#include "gradwatt/simulation/simulate.hpp"
#include "gradwatt/simulation/test_clusters.hpp"

namespace gradwatt::simulation {
namespace {

constexpr double kBytes = 100e6;

double played(const planning::Cluster& cluster, const Schedule& schedule) {
  const auto seconds = play_alone(cluster, schedule);
  EXPECT_TRUE(seconds) << seconds.error().message;
  return seconds.value_or(-1);
}

/// Prints the deviation, so that a log of the tests has the figures.
void expect_within(double simulated_s, double formula_s, double share, const char* what, int members) {
  std::printf("%s over %d: simulated %.6f s, formula %.6f s, %+.2f %%\n", what, members, simulated_s, formula_s,
              100 * (simulated_s / formula_s - 1));
  EXPECT_NEAR(simulated_s, formula_s, share * formula_s) << what << " over " << members;
}

TEST(MessageLevelAllReduce, RingUpTo256HostsKeepsToTheFormula) {
  for (const int n : {2, 3, 8, 64, 256})
    expect_within(played(star(n), ring_schedule(n, kBytes)), ring_all_reduce(n, kBytes, kTestNic).seconds, 0.1, "ring",
                  n);
}

TEST(MessageLevelAllReduce, RingOfShortVectorsIsAllLatency) {
  expect_within(played(star(256), ring_schedule(256, 1e5)), ring_all_reduce(256, 1e5, kTestNic).seconds, 0.1,
                "short ring", 256);
}

TEST(MessageLevelAllReduce, DoublingAndHalvingUpTo4096HostsKeepToTheFormula) {
  for (const int n : {2, 6, 64, 4096}) {
    expect_within(played(star(n), recursive_doubling_schedule(n, kBytes)),
                  recursive_doubling_all_reduce(n, kBytes, kTestNic).seconds, 0.1, "recursive doubling", n);
    expect_within(played(star(n), halving_doubling_schedule(n, kBytes)),
                  halving_doubling_all_reduce(n, kBytes, kTestNic).seconds, 0.1, "halving and doubling", n);
  }
}

TEST(MessageLevelAllReduce, BinomialTreeUpTo4096HostsKeepsToTheFormula) {
  for (const int n : {2, 5, 64, 4096})
    expect_within(played(star(n), binomial_schedule(n, kBytes)), binomial_all_reduce(n, kBytes, kTestNic).seconds, 0.1,
                  "binomial tree", n);
}

TEST(MessageLevelAllReduce, PipelinedDoubleTreeUpTo1024HostsKeepsToTheFormula) {
  for (const int n : {2, 3, 8, 13, 64, 256, 1024}) {
    const int pieces = std::min(best_tree_pieces(n, kBytes, kTestNic), 8192 / n);  // seconds of simulating
    expect_within(played(star(n), double_tree_schedule(n, kBytes, pieces)),
                  double_tree_all_reduce(n, kBytes, kTestNic, pieces).seconds, 0.1, "double tree", n);
  }
}

TEST(MessageLevelAllReduce, TwoLevelsUpTo4096HostsKeepToTheFormula) {
  for (const auto& [nodes, members] : {std::pair(2, 4), std::pair(16, 8), std::pair(64, 64)}) {
    const auto cost = two_level_sharded({nodes, members}, kBytes, kTestNic, kTestNic);
    expect_within(played(star(nodes * members), two_level_schedule(nodes, members, kBytes)), cost.seconds(), 0.1,
                  "two levels", nodes * members);
  }
}

// Eight nodes at two switches, halving and doubling of 100 MB: the partners of the first and last exchange (50 MB) are
// at the other switch. Four flows share an uplink of 4 · 10 GB/s over the oversubscription 4: a quarter of the rate
// each. Bytes of a node in units of 12.5 MB: 2 · (4·4 + 2 + 1) = 38 instead of 2 · (4 + 2 + 1) = 14: the ratio
// is 2.714.
TEST(MessageLevelAllReduce, AnOversubscribedFatTreeIsSlowerByTheRatioComputedByHand) {
  const auto schedule = halving_doubling_schedule(8, kBytes);
  const double free = played(fat_tree(8, 4, 1), schedule), shared = played(fat_tree(8, 4, 4), schedule);
  EXPECT_NEAR(shared / free, 38.0 / 14, 0.01 * 38.0 / 14);
  EXPECT_NEAR(free, played(star(8), schedule), 0.001 * free) << "without oversubscription a fat tree is a star";
}

// A ring crosses each uplink once a round: one flow of 10 GB/s on 40/4 = 10 GB/s. Nothing is lost.
TEST(MessageLevelAllReduce, ARingOverNeighboursDoesNotSufferFromOversubscription) {
  const auto schedule = ring_schedule(8, kBytes);
  EXPECT_NEAR(played(fat_tree(8, 4, 4), schedule), played(star(8), schedule), 1e-3);
}

TEST(MessageLevelAllReduce, DragonflyGroupsBlockOnlyBetweenGroups) {
  auto cluster = fat_tree(8, 2, 4);
  cluster.network.topology = planning::Topology::dragonfly;
  cluster.network.switches_per_group = 2;
  const auto schedule = halving_doubling_schedule(8, kBytes);
  EXPECT_NEAR(played(cluster, schedule), played(fat_tree(8, 4, 4), schedule), 1e-6) << "a group is a bundle of nodes";
}

TEST(MessageLevelAllReduce, MoreMembersThanNodesAreRefused) {
  const auto refused = play_alone(star(2), ring_schedule(3, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, core::Errc::wrong_use);
}

}  // namespace
}  // namespace gradwatt::simulation
