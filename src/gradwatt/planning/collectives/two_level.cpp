#include "gradwatt/planning/collectives/two_level.hpp"

#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/planning/collectives/tree.hpp"

namespace gradwatt::planning {

CollectiveCost two_level_sharded(const Shape& shape, double bytes, const Level& node, const Level& rail) {
  return {.node = ring_all_reduce(shape.gpus_per_node, bytes, node),
          .network = ring_all_reduce(shape.nodes, bytes / shape.gpus_per_node, rail)};
}

CollectiveCost two_level_leader(const Shape& shape, double bytes, const Level& node, const Level& network) {
  auto between = ring_all_reduce(shape.nodes, bytes, network);
  between.messages /= shape.gpus_per_node, between.bytes /= shape.gpus_per_node;  // mean over all ranks
  return {.node = binomial_all_reduce(shape.gpus_per_node, bytes, node), .network = between};
}

}  // namespace gradwatt::planning
