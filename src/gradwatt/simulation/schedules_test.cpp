#include "gradwatt/simulation/schedules.hpp"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "gradwatt/planning/collectives/halving_doubling.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/planning/collectives/tree.hpp"
#include "gradwatt/planning/collectives/two_level.hpp"

namespace gradwatt::simulation {
namespace {

/// Every message that is sent is received: counts by sender, receiver and tag.
void expect_complete(const Schedule& schedule, const char* what) {
  std::map<std::tuple<int, int, int>, int> open;
  for (int i = 0; i < schedule.members(); ++i)
    for (const auto& track : schedule.tracks[static_cast<std::size_t>(i)])
      for (const auto& round : track) {
        for (const auto& send : round.sends) open[{i, send.peer, send.tag}] += round.repeat;
        for (const auto& source : round.receives) open[{source.peer, i, source.tag}] -= round.repeat;
      }
  for (const auto& [key, count] : open)
    EXPECT_EQ(count, 0) << what << " " << std::get<0>(key) << ">" << std::get<1>(key);
}

double mean_bytes(const Schedule& schedule) {
  double sum = 0;
  for (int i = 0; i < schedule.members(); ++i) sum += bytes_sent(schedule, i);
  return sum / schedule.members();
}

TEST(Schedules, EveryMessageHasASenderAndAReceiver) {
  for (const int n : {1, 2, 3, 4, 5, 6, 7, 8, 13, 16, 31}) {
    expect_complete(ring_schedule(n, 1e6), "ring");
    expect_complete(recursive_doubling_schedule(n, 1e6), "recursive doubling");
    expect_complete(halving_doubling_schedule(n, 1e6), "halving and doubling");
    expect_complete(binomial_schedule(n, 1e6), "binomial");
    expect_complete(double_tree_schedule(n, 1e6, 1), "double tree in one piece");
    expect_complete(double_tree_schedule(n, 1e6, 7), "double tree");
    expect_complete(all_to_all_schedule(n, 1e6), "all to all");
    expect_complete(two_level_schedule(n, 3, 1e6), "two levels");
  }
}

TEST(Schedules, MembersSendTheBytesOfTheClosedForms) {
  const planning::Level any{.latency_s = 1e-6, .bytes_per_s = 1e9};
  for (const int n : {2, 5, 8, 12}) {
    EXPECT_NEAR(mean_bytes(ring_schedule(n, 1e6)), ring_all_reduce(n, 1e6, any).bytes, 1);
    EXPECT_NEAR(mean_bytes(halving_doubling_schedule(n, 1e6)), halving_doubling_all_reduce(n, 1e6, any).bytes, 1);
    EXPECT_NEAR(mean_bytes(binomial_schedule(n, 1e6)), binomial_all_reduce(n, 1e6, any).bytes, 1);
    EXPECT_NEAR(mean_bytes(double_tree_schedule(n, 1e6, 4)), double_tree_all_reduce(n, 1e6, any, 4).bytes, 1);
    EXPECT_NEAR(message_count(double_tree_schedule(n, 1e6, 4)) / n, double_tree_all_reduce(n, 1e6, any, 4).messages,
                1e-9);
  }
  const auto cost = two_level_sharded({4, 8}, 1e6, any, any);
  EXPECT_NEAR(mean_bytes(two_level_schedule(4, 8, 1e6)), cost.node.bytes + cost.network.bytes, 1);
}

TEST(Schedules, LeavesOfOneTreeWorkInTheOther) {
  for (const int n : {4, 5, 8, 9, 64}) {
    const auto schedule = double_tree_schedule(n, 1e6, 4);
    for (int i = 0; i < n; ++i) EXPECT_LE(bytes_sent(schedule, i), 2 * 1e6 + 1) << i << " of " << n;
  }
}

TEST(Schedules, TheInOrderTreeIsATreeOfSmallHeight) {
  for (const int n : {1, 2, 3, 7, 9, 100, 512}) {
    int roots = 0;
    for (int i = 0; i < n; ++i) {
      int depth = 0;
      for (int at = i; (at = in_order_parent(at, n)) >= 0; ++depth) ASSERT_LT(at, n);
      EXPECT_LE(depth, planning::tree_height(n)) << i << " of " << n;
      roots += in_order_parent(i, n) < 0;
    }
    EXPECT_EQ(roots, 1) << n;
  }
}

TEST(Schedules, AScheduleAfterAnotherKeepsTheOrder) {
  const auto both = then(ring_schedule(3, 3e6), all_to_all_schedule(3, 1e6));
  expect_complete(both, "ring, then all to all");
  EXPECT_DOUBLE_EQ(message_count(both), 3 * 4 + 3 * 2);
}

}  // namespace
}  // namespace gradwatt::simulation
