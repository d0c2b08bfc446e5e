#include "gradwatt/planning/collectives/ring.hpp"

namespace gradwatt::planning {

Traffic ring_all_gather(int ranks, double bytes, const Level& level) {
  const double rounds = ranks - 1, chunk = bytes / ranks;
  return {.seconds = rounds * level.message_s(chunk), .messages = rounds, .bytes = rounds * chunk};
}

Traffic ring_reduce_scatter(int ranks, double bytes, const Level& level) {
  auto traffic = ring_all_gather(ranks, bytes, level);
  traffic.seconds += level.reduce_s(traffic.bytes);
  return traffic;
}

Traffic ring_all_reduce(int ranks, double bytes, const Level& level) {
  return ring_reduce_scatter(ranks, bytes, level) + ring_all_gather(ranks, bytes, level);
}

CollectiveCost ring_over_nodes(const Shape& shape, double bytes, const Level& node, const Level& network) {
  if (shape.nodes == 1) return {.node = ring_all_reduce(shape.ranks(), bytes, node)};
  if (shape.gpus_per_node == 1) return {.network = ring_all_reduce(shape.ranks(), bytes, network)};
  auto inside = ring_all_reduce(shape.ranks(), bytes, node);
  auto between = ring_all_reduce(shape.ranks(), bytes, network);
  (inside.seconds > between.seconds ? between : inside).seconds = 0;
  // One rank of a node sends to the next node, the others to their neighbour inside.
  const double leaving = 1.0 / shape.gpus_per_node;
  between.messages *= leaving, between.bytes *= leaving;
  inside.messages *= 1 - leaving, inside.bytes *= 1 - leaving;
  return {.node = inside, .network = between};
}

}  // namespace gradwatt::planning
