#include "gradwatt/planning/collectives/asynchronous.hpp"

#include <algorithm>

namespace gradwatt::planning {

Traffic parameter_server_update(int workers, int shards, double bytes, const Level& level) {
  const double alone = 2 * level.message_s(bytes);
  const double at_shards = 2 * level.latency_s + bytes * workers / shards / level.bytes_per_s;
  return {.seconds = std::max(alone, at_shards), .messages = 2.0 * shards, .bytes = 2 * bytes};
}

CollectiveCost sharded_parameter_server_update(const Shape& shape, double bytes, const Level& node, const Level& rail) {
  const double message = bytes / shape.ranks() + kServerHeaderBytes;
  const auto with = [&](int peers, const Level& level) {
    const double messages = 2.0 * peers;
    return Traffic{.seconds = messages * level.message_s(message), .messages = messages, .bytes = messages * message};
  };
  return {.node = with(shape.gpus_per_node - 1, node), .network = with(shape.ranks() - shape.gpus_per_node, rail)};
}

CollectiveCost local_sgd_cost(const CollectiveCost& all_reduce, int period) { return all_reduce * (1.0 / period); }

CollectiveCost post_local_sgd_cost(const CollectiveCost& all_reduce, int period, double synchronous_share) {
  return all_reduce * (synchronous_share + (1 - synchronous_share) / period);
}

double stale_exposed_s(double exchange_s, int steps, double step_s) {
  return std::max(0.0, exchange_s - steps * step_s);
}

}  // namespace gradwatt::planning
