#include "gradwatt/planning/collectives/daso.hpp"

#include <algorithm>
#include <bit>

#include "gradwatt/planning/collectives/ring.hpp"

namespace gradwatt::planning {

Traffic binomial_broadcast(int ranks, double bytes, const Level& level) {
  const double rounds = std::bit_width(static_cast<unsigned>(ranks - 1)), share = (ranks - 1.0) / ranks;
  return {.seconds = rounds * level.message_s(bytes), .messages = share, .bytes = share * bytes};
}

CollectiveCost daso_cost(const Shape& shape, double gradient_bytes, double wire_bytes, const Level& node,
                         const Level& rail, const Daso& plan) {
  CollectiveCost cost{.node = ring_all_reduce(shape.gpus_per_node, gradient_bytes, node) * (1.0 / plan.local_skips)};
  if (shape.nodes == 1) return cost;
  const double each = 1.0 / plan.global_skips;
  cost.node += binomial_broadcast(shape.gpus_per_node, wire_bytes, node) * each;
  cost.network = ring_all_reduce(shape.nodes, wire_bytes, rail) * each;
  // One GPU of the node sends: mean over its ranks.
  cost.network.messages /= shape.gpus_per_node, cost.network.bytes /= shape.gpus_per_node;
  return cost;
}

double daso_exposed_s(const Shape& shape, double wire_bytes, const Level& rail, const Daso& plan, double batch_s) {
  const double exchange = ring_all_reduce(shape.nodes, wire_bytes, rail).seconds;
  return std::max(0.0, exchange - plan.batches_to_wait * batch_s) / plan.global_skips;
}

}  // namespace gradwatt::planning
