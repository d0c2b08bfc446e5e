#include <gtest/gtest.h>

#include "gradwatt/planning/collectives/asynchronous.hpp"
#include "gradwatt/planning/collectives/daso.hpp"
#include "gradwatt/planning/collectives/halving_doubling.hpp"
#include "gradwatt/planning/collectives/one_bit.hpp"
#include "gradwatt/planning/collectives/recursive_doubling.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/planning/collectives/tree.hpp"
#include "gradwatt/planning/collectives/two_level.hpp"

namespace gradwatt::planning {
namespace {

constexpr double kResNet50_bytes = 102'228'128;
const Level kTenGigabytes{.latency_s = 5e-6, .bytes_per_s = 1e10};
const Level kNodeLink{.latency_s = 1e-6, .bytes_per_s = 1e11};

// p = 16, n = 102228128 B, α = 5 µs, β = 0.1 ns/B, by hand: 2·15·5e-6 + 2·15/16·n·1e-10, …
TEST(Collectives, ResNet50OnSixteenRanksTakesWhatTheFormulaGivesByHand) {
  EXPECT_NEAR(ring_all_reduce(16, kResNet50_bytes, kTenGigabytes).seconds, 19.318e-3, 1e-6);
  EXPECT_NEAR(halving_doubling_all_reduce(16, kResNet50_bytes, kTenGigabytes).seconds, 19.208e-3, 1e-6);
  EXPECT_NEAR(recursive_doubling_all_reduce(16, kResNet50_bytes, kTenGigabytes).seconds, 40.911e-3, 1e-6);
}

TEST(Collectives, RingAndHalvingSendTheSameBytesAndDoublingSendsThemLgTimes) {
  const double least = 2 * kResNet50_bytes * 15 / 16;
  EXPECT_DOUBLE_EQ(ring_all_reduce(16, kResNet50_bytes, kTenGigabytes).bytes, least);
  EXPECT_DOUBLE_EQ(halving_doubling_all_reduce(16, kResNet50_bytes, kTenGigabytes).bytes, least);
  EXPECT_DOUBLE_EQ(recursive_doubling_all_reduce(16, kResNet50_bytes, kTenGigabytes).bytes, 4 * kResNet50_bytes);
  EXPECT_EQ(ring_all_reduce(16, 1, kTenGigabytes).messages, 30);
  EXPECT_EQ(halving_doubling_all_reduce(16, 1, kTenGigabytes).messages, 8);
  EXPECT_EQ(recursive_doubling_all_reduce(16, 1, kTenGigabytes).messages, 4);
}

TEST(Collectives, OneRankExchangesNothing) {
  for (const auto& cost : {ring_all_reduce(1, 1e6, kTenGigabytes), halving_doubling_all_reduce(1, 1e6, kTenGigabytes),
                           recursive_doubling_all_reduce(1, 1e6, kTenGigabytes),
                           binomial_all_reduce(1, 1e6, kTenGigabytes), double_tree_all_reduce(1, 1e6, kTenGigabytes)}) {
    EXPECT_EQ(cost.seconds, 0);
    EXPECT_EQ(cost.bytes, 0);
  }
  EXPECT_EQ(one_bit_all_reduce({1, 1}, 1e6, kNodeLink, kTenGigabytes).seconds(), 0);
}

// p = 4, n = 4 MB, γ = 1 ns/B: the reduction adds 3/4 · 4e6 · 1e-9 = 3 ms to ring and halving, 2 · 4 ms to doubling.
TEST(Collectives, TheSumTakesItsTime) {
  Level slow_sum = kTenGigabytes;
  slow_sum.reduce_bytes_per_s = 1e9;
  const auto extra = [&](auto algorithm) {
    return algorithm(4, 4e6, slow_sum).seconds - algorithm(4, 4e6, kTenGigabytes).seconds;
  };
  EXPECT_NEAR(extra(ring_all_reduce), 3e-3, 1e-12);
  EXPECT_NEAR(extra(halving_doubling_all_reduce), 3e-3, 1e-12);
  EXPECT_NEAR(extra(recursive_doubling_all_reduce), 8e-3, 1e-12);
  EXPECT_NEAR(extra(binomial_all_reduce), 8e-3, 1e-12);
}

// p = 6: 4 core ranks, 2 folded. Doubling: 2 rounds of (5 µs + 100 µs), and 2 more for handing in and out.
TEST(Collectives, RanksBeyondAPowerOfTwoAreFoldedInAndOut) {
  const auto cost = recursive_doubling_all_reduce(6, 1e6, kTenGigabytes);
  EXPECT_NEAR(cost.seconds, 4 * 105e-6, 1e-12);
  EXPECT_NEAR(cost.messages, (4 * 2 + 2 * 2) / 6.0, 1e-12);
  EXPECT_NEAR(halving_doubling_all_reduce(6, 1e6, kTenGigabytes).seconds, 4 * 5e-6 + 150e-6 + 2 * 105e-6, 1e-12);
}

// p = 5, n = 1 MB: ⌈lg 5⌉ = 3 rounds down and 3 up of 105 µs each.
TEST(Collectives, BinomialTreePassesTheWholeVectorInEachRound) {
  EXPECT_NEAR(binomial_all_reduce(5, 1e6, kTenGigabytes).seconds, 6 * 105e-6, 1e-12);
  EXPECT_DOUBLE_EQ(binomial_all_reduce(5, 1e6, kTenGigabytes).bytes, 2 * 1e6 * 4 / 5);
}

// p = 8 (h = 3), n = 100 MB in 10 pieces a tree: 20 ms + 10 · 5 µs + 6 · (5 µs + 0.75 ms).
TEST(Collectives, DoubleTreeKeepsItsBusiestLinkBusyOnceTheFirstPieceHasPassed) {
  EXPECT_NEAR(double_tree_all_reduce(8, 1e8, kTenGigabytes, 10).seconds, 24.58e-3, 1e-9);
  const auto best = double_tree_all_reduce(8, 1e8, kTenGigabytes).seconds;
  EXPECT_LT(best, double_tree_all_reduce(8, 1e8, kTenGigabytes, 10).seconds);
  EXPECT_GT(best, 2e-2) << "never faster than the bytes that every rank must send";
}

TEST(Collectives, BestPiecesOfATreeAreThoseOfLeastTime) {
  const Level slow{.latency_s = 1e-3, .bytes_per_s = 1e9};
  const int best = best_tree_pieces(32, 1e8, slow);  // √(1.5 · 5 · 0.1 / 1e-3) = 27.4
  EXPECT_EQ(best, 27);
  const auto at = [&](int k) { return double_tree_all_reduce(32, 1e8, slow, k).seconds; };
  EXPECT_LE(at(best), at(best - 1));
  EXPECT_LE(at(best), at(best + 1));
}

// g = 4, N = 2, n = 8 MB. In the node: 2·3 µs + 1.5·8e6/1e11 = 126 µs; between: 2·5 µs + 2 MB/1e10 = 210 µs.
TEST(Collectives, TwoLevelsAddUpAndOnlyAShardLeavesTheNode) {
  const auto cost = two_level_sharded({2, 4}, 8e6, kNodeLink, kTenGigabytes);
  EXPECT_NEAR(cost.node.seconds, 126e-6, 1e-12);
  EXPECT_NEAR(cost.network.seconds, 210e-6, 1e-12);
  EXPECT_DOUBLE_EQ(cost.network.bytes, 2e6);
  EXPECT_EQ(two_level_sharded({1, 4}, 8e6, kNodeLink, kTenGigabytes).network.seconds, 0);
  EXPECT_EQ(two_level_sharded({4, 1}, 8e6, kNodeLink, kTenGigabytes).node.seconds, 0);
}

// The leader sends all of it: 2 rounds up and down of 81 µs, then a ring of 8 MB between two.
TEST(Collectives, ALeaderCarriesTheWholeVector) {
  const auto cost = two_level_leader({2, 4}, 8e6, kNodeLink, kTenGigabytes);
  EXPECT_NEAR(cost.node.seconds, 4 * 81e-6, 1e-12);
  EXPECT_NEAR(cost.network.seconds, 2 * 5e-6 + 8e-4, 1e-12);
  EXPECT_DOUBLE_EQ(cost.network.bytes, 8e6 / 4) << "mean over the four ranks of a node";
}

// 8 ranks, n = 8 MB: 14 rounds of 5 µs + 1 MB/1e10 = 105 µs; one rank in four leaves the node.
TEST(Collectives, ARingOverNodesKeepsThePaceOfItsSlowestHop) {
  const auto cost = ring_over_nodes({2, 4}, 8e6, kNodeLink, kTenGigabytes);
  EXPECT_NEAR(cost.seconds(), 14 * 105e-6, 1e-12);
  EXPECT_EQ(cost.node.seconds, 0);
  EXPECT_DOUBLE_EQ(cost.network.messages, 14 / 4.0);
  EXPECT_DOUBLE_EQ(cost.network.bytes + cost.node.bytes, 14e6);
}

// 8 ranks, n = 32 MB fp32 = 8 M elements = 1 MB of signs, chunks of 125 kB + 4.
TEST(Collectives, OneBitSendsAThirtySecondTwiceInManyMessages) {
  EXPECT_DOUBLE_EQ(one_bit_bytes(8, 32e6), 1e6);
  EXPECT_DOUBLE_EQ(one_bit_bytes(8, 4), 8) << "one element is padded to a byte a rank";
  const auto cost = one_bit_all_reduce({2, 4}, 32e6, kNodeLink, kTenGigabytes);
  EXPECT_EQ(cost.network.messages, 8);
  EXPECT_DOUBLE_EQ(cost.network.bytes, 8 * 125'004);
  EXPECT_NEAR(cost.network.seconds, 8 * (5e-6 + 125'004 / 1e10), 1e-12);
  EXPECT_NEAR(cost.node.seconds, 6 * (1e-6 + 125'004 / 1e11), 1e-12);
}

// Compressing 32 MB and the eighth that a server holds, at 1 GB/s: 36 ms.
TEST(Collectives, CompressingCostsTimeThatSmallMessagesMustEarn) {
  const auto cost = one_bit_all_reduce({2, 4}, 32e6, kNodeLink, kTenGigabytes, {.compress_bytes_per_s = 1e9});
  EXPECT_NEAR(cost.node.seconds, 36e-3 + 6 * (1e-6 + 125'004 / 1e11), 1e-9);
}

// g = 4, N = 2, 8 MB, B = 4: node 126 µs + (2 · 81 µs)/4; network (10 µs + 800 µs)/4 on one rail.
TEST(Collectives, DasoSpreadsItsExchangeBetweenNodesOverTheBatches) {
  const Daso plan{.global_skips = 4, .batches_to_wait = 1};
  const auto cost = daso_cost({2, 4}, 8e6, 8e6, kNodeLink, kTenGigabytes, plan);
  EXPECT_NEAR(cost.node.seconds, 126e-6 + 162e-6 / 4, 1e-12);
  EXPECT_NEAR(cost.network.seconds, 810e-6 / 4, 1e-12);
  EXPECT_NEAR(daso_exposed_s({2, 4}, 8e6, kTenGigabytes, plan, 500e-6), 310e-6 / 4, 1e-12);
  EXPECT_EQ(daso_exposed_s({2, 4}, 8e6, kTenGigabytes, plan, 900e-6), 0);
}

TEST(Collectives, DasoThatSyncsEachBatchIsNodeAndNetworkEachBatch) {
  const auto cost = daso_cost({2, 1}, 8e6, 8e6, kNodeLink, kTenGigabytes, {.global_skips = 1, .batches_to_wait = 0});
  EXPECT_DOUBLE_EQ(cost.seconds(), ring_all_reduce(2, 8e6, kTenGigabytes).seconds);
}

// 1 MB at 1e10 B/s: 2 · 105 µs alone; 16 workers on 4 shards: 10 µs + 400 µs.
TEST(Collectives, AParameterServerIsAsFastAsItsShards) {
  EXPECT_NEAR(parameter_server_update(1, 1, 1e6, kTenGigabytes).seconds, 210e-6, 1e-12);
  EXPECT_NEAR(parameter_server_update(16, 4, 1e6, kTenGigabytes).seconds, 410e-6, 1e-12);
}

// 2 nodes of 2, 4 MB: 2 messages to the neighbour, 4 to the other node, each of 1 MB and a header.
TEST(Collectives, RanksThatServeEachOtherSendAsMuchAsARing) {
  const auto cost = sharded_parameter_server_update({2, 2}, 4e6, kNodeLink, kTenGigabytes);
  EXPECT_DOUBLE_EQ(cost.node.bytes + cost.network.bytes, 6 * (1e6 + 16));
  EXPECT_NEAR(cost.node.seconds, 2 * (1e-6 + 1'000'016 / 1e11), 1e-12);
  EXPECT_NEAR(cost.network.seconds, 4 * (5e-6 + 1'000'016 / 1e10), 1e-12);
}

TEST(Collectives, LocalStepsDivideTheCostAndPostLocalStepsDoSoLater) {
  const auto sync = two_level_sharded({2, 4}, 8e6, kNodeLink, kTenGigabytes);
  EXPECT_DOUBLE_EQ(local_sgd_cost(sync, 8).seconds(), sync.seconds() / 8);
  EXPECT_DOUBLE_EQ(local_sgd_cost(sync, 1).seconds(), sync.seconds());
  EXPECT_DOUBLE_EQ(post_local_sgd_cost(sync, 16, 0.5).network.bytes, sync.network.bytes * (0.5 + 0.5 / 16));
  EXPECT_DOUBLE_EQ(stale_exposed_s(0.3, 1, 0.2), 0.3 - 0.2);
  EXPECT_EQ(stale_exposed_s(0.1, 1, 0.2), 0);
}

}  // namespace
}  // namespace gradwatt::planning
