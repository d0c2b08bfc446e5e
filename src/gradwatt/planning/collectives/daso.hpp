// DASO: the GPUs of a node average gradients in every batch (or every L-th); nodes average parameters only every B-th,
// by one GPU of each, and go on computing for S batches before they merge what came.
//
//   a batch, mean:  node     ring(g, n) / L + broadcast(g, n) / B
//                   network  ring(N, w) / B       w bytes of parameters on the wire, on one rail of the node
//   exposed of the network: max(0, ring(N, w) − S · t_batch) / B
//
// Source: Coquelin et al., "Accelerating neural network training with distributed asynchronous and selective
// optimization (DASO)", J. Big Data 9, 2022, and its public code. B = 1, S = 0 is its blocking warm-up. Range: equal
// nodes; the merge itself is not counted.
#pragma once

#include "gradwatt/planning/collectives/cost.hpp"

namespace gradwatt::planning {

struct Daso {
  int global_skips = 4;     ///< B: batches from one exchange between nodes to the next
  int batches_to_wait = 1;  ///< S: batches that a node computes before it merges, below B
  int local_skips = 1;      ///< L: batches from one exchange in the node to the next
};

/// Mean over the batches. `wire_bytes`: parameters as they travel (half of fp32 where they are sent as bf16).
[[nodiscard]] CollectiveCost daso_cost(const Shape& shape, double gradient_bytes, double wire_bytes, const Level& node,
                                       const Level& rail, const Daso& plan);

/// Of the network's seconds a batch, those that no computing hides when a batch without them takes `batch_s`.
[[nodiscard]] double daso_exposed_s(const Shape& shape, double wire_bytes, const Level& rail, const Daso& plan,
                                    double batch_s);

/// The node's part of an exchange between nodes: ⌈lg g⌉(α + nβ).
[[nodiscard]] Traffic binomial_broadcast(int ranks, double bytes, const Level& level);

}  // namespace gradwatt::planning
