// Ring all-reduce: reduce-scatter, then all-gather, each of p − 1 rounds in which every rank passes n/p bytes on.
//
//   t = 2(p−1)α + 2((p−1)/p)nβ + ((p−1)/p)nγ          bytes a rank: 2n(p−1)/p
//
// Source: Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH", 2005. Range: any
// p ≥ 1 and n ≥ 0; best where n/p is large against α/β. Over nodes the slowest hop of the ring sets the pace.
#pragma once

#include "gradwatt/planning/collectives/cost.hpp"

namespace gradwatt::planning {

/// `bytes`: of the vector that every rank holds. Zero for one rank.
[[nodiscard]] Traffic ring_all_reduce(int ranks, double bytes, const Level& level);

/// Either half of it alone.
[[nodiscard]] Traffic ring_reduce_scatter(int ranks, double bytes, const Level& level);
[[nodiscard]] Traffic ring_all_gather(int ranks, double bytes, const Level& level);

/// One ring through all GPUs, node after node: each round takes as long as its slowest hop. `network` is what the one
/// rank of a node that leaves it has. All seconds stand at the slower level; where the node has one GPU that is the
/// network.
[[nodiscard]] CollectiveCost ring_over_nodes(const Shape& shape, double bytes, const Level& node, const Level& network);

}  // namespace gradwatt::planning
