// All-reduce in two levels: what can stay inside the node does.
//
// Sharded: reduce-scatter over the g GPUs of each node, ring all-reduce of n/g between the N nodes on g rails at once,
// all-gather in the node.
//
//   t = 2(g−1)α₁ + 2((g−1)/g)nβ₁ + ((g−1)/g)nγ₁ + 2(N−1)α₂ + 2((N−1)/N)(n/g)β₂ + ((N−1)/N)(n/g)γ₂
//   bytes a rank: 2n(g−1)/g inside, 2(n/g)(N−1)/N between nodes
//
// Leader: binomial reduce to one GPU of the node, ring of the whole n between the leaders, binomial broadcast.
//
//   t = 2⌈lg g⌉(α₁ + nβ₁) + ⌈lg g⌉nγ₁ + ring(N, n)         bytes a rank between nodes: 2n(N−1)/N of the leader alone
//
// Source: textbook forms put together from their parts (ring.hpp, tree.hpp); the sharded one is the 2D form of Mikami
// et al., "Massively Distributed SGD", 2018. Range: equal nodes; g = 1 is the ring, N = 1 the node's own exchange.
#pragma once

#include "gradwatt/planning/collectives/cost.hpp"

namespace gradwatt::planning {

/// `rail`: what one GPU has between nodes; a node of fewer network cards than GPUs divides their sum.
[[nodiscard]] CollectiveCost two_level_sharded(const Shape& shape, double bytes, const Level& node, const Level& rail);

/// `network`: what the leader has.
[[nodiscard]] CollectiveCost two_level_leader(const Shape& shape, double bytes, const Level& node,
                                              const Level& network);

}  // namespace gradwatt::planning
