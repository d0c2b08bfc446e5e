#include "gradwatt/simulation/exchange.hpp"

#include <algorithm>
#include <cmath>

#include "gradwatt/planning/collectives/daso.hpp"
#include "gradwatt/planning/collectives/one_bit.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/planning/collectives/tree.hpp"
#include "gradwatt/simulation/schedules.hpp"

namespace gradwatt::simulation {
namespace {

using planning::Cluster;
using planning::Level;

/// Rounds of a ring over 128 nodes: up to there each is simulated; in larger rings some are one message of their bytes
/// and a pause of their latencies. Keeps 512 nodes to a second a step.
constexpr int kMostRingRounds = 254;

/// Pieces of a tree times nodes: beyond, pieces become fewer and larger, which costs 10 % of the exchange at 512 nodes.
/// Messages of trees share links, which makes them the most work to simulate.
constexpr int kMostTreeMessages = 16384;

/// Calls `time` with the link of each kind of node.
template <class Time>
std::vector<double> by_kind(const Cluster& cluster, Time time) {
  std::vector<double> seconds;
  for (const auto& kind : cluster.kinds) seconds.push_back(time(kind.link));
  return seconds;
}

/// Each round of the schedule stands for `gpus` of the algorithm and has their latencies.
Schedule merged_ring(int nodes, double bytes, int gpus, double latency_s) {
  auto schedule = ring_schedule(nodes, bytes);
  for (auto& member : schedule.tracks)
    for (auto& round : member.front()) {
      const int in_one = (round.repeat + kMostRingRounds - 1) / kMostRingRounds;
      const int rounds = (round.repeat + in_one - 1) / in_one;
      const double nodes_passed = static_cast<double>(round.repeat) / rounds;
      round.sends.front().bytes *= nodes_passed;
      round.merged = nodes_passed * gpus;
      round.pause_s = (round.merged - 1) * latency_s;
      round.repeat = rounds;
    }
  return schedule;
}

Exchange two_level(const Cluster& cluster, double bytes) {
  const int gpus = cluster.gpus_per_node;
  return {.before_s = by_kind(cluster, [&](const Level& l) { return ring_reduce_scatter(gpus, bytes, l).seconds; }),
          .after_s = by_kind(cluster, [&](const Level& l) { return ring_all_gather(gpus, bytes, l).seconds; }),
          .schedule = merged_ring(cluster.node_count(), bytes, 1, cluster.kinds.front().nic.latency_s)};
}

/// A chunk passes the g GPUs of a node before it leaves it: g rounds of the ring are one message of a node.
Exchange flat_ring(const Cluster& cluster, double bytes) {
  const int gpus = cluster.gpus_per_node, ranks = cluster.shape().ranks(), nodes = cluster.node_count();
  const double chunk = bytes / ranks;
  if (nodes == 1)
    return {.before_s = by_kind(cluster, [&](const Level& l) { return ring_all_reduce(ranks, bytes, l).seconds; }),
            .after_s = std::vector<double>(cluster.kinds.size(), 0),
            .schedule = ring_schedule(1, bytes)};
  const auto& usual = cluster.kinds.front();
  const Level hop{.latency_s = usual.nic.latency_s, .bytes_per_s = usual.network_bytes_per_s()};
  Exchange exchange{.before_s = std::vector<double>(cluster.kinds.size(), 0),
                    // 2(Ng − 1) rounds are 2(N − 1) times g, and these.
                    .after_s = by_kind(cluster,
                                       [&](const Level& l) {
                                         const double inside = gpus > 1 ? l.message_s(chunk) : 0;
                                         return 2 * (gpus - 1) * std::max(inside, hop.message_s(chunk));
                                       }),
                    .schedule = merged_ring(nodes, bytes, gpus, hop.latency_s)};
  for (auto& member : exchange.schedule.tracks)
    for (auto& round : member.front())
      if (gpus > 1) round.at_least_s = round.merged * usual.link.message_s(chunk);
  return exchange;
}

Exchange tree(const Cluster& cluster, double bytes) {
  const int gpus = cluster.gpus_per_node, nodes = cluster.node_count();
  const auto& usual = cluster.kinds.front();
  const Level network{.latency_s = usual.nic.latency_s, .bytes_per_s = usual.network_bytes_per_s()};
  const int pieces =
      std::min(planning::best_tree_pieces(nodes, bytes, network), std::max(1, kMostTreeMessages / nodes));
  const auto chain =
      by_kind(cluster, [&](const Level& l) { return planning::pipelined_chain(gpus, bytes, l).seconds; });
  return {.before_s = chain, .after_s = chain, .schedule = double_tree_schedule(nodes, bytes, pieces)};
}

Exchange one_bit(const Cluster& cluster, const Job& job) {
  const int gpus = cluster.gpus_per_node, ranks = cluster.shape().ranks(), nodes = cluster.node_count();
  planning::OneBit options;
  if (job.compress_bytes_per_s > 0) options.compress_bytes_per_s = job.compress_bytes_per_s;
  const auto cost = [&](const Level& link) {
    return planning::one_bit_all_reduce(cluster.shape(), job.gradient_bytes, link, cluster.rail(), options);
  };
  constexpr double kScaleBytes = 4;
  const double chunk = planning::one_bit_bytes(ranks, job.gradient_bytes) / ranks + kScaleBytes;
  // All GPUs of a node to all of another, each its g messages in a row.
  auto phase = all_to_all_schedule(nodes, chunk * gpus * gpus);
  for (auto& member : phase.tracks)
    for (auto& round : member.front()) round.pause_s = (gpus - 1) * cluster.kinds.front().nic.latency_s;
  return {.before_s = by_kind(cluster, [&](const Level& l) { return cost(l).node.seconds; }),
          .after_s = std::vector<double>(cluster.kinds.size(), 0),
          .schedule = then(phase, phase)};
}

Exchange inside_nodes(const Cluster& cluster, double bytes) {
  const int gpus = cluster.gpus_per_node;
  return {.before_s = by_kind(cluster, [&](const Level& l) { return ring_all_reduce(gpus, bytes, l).seconds; }),
          .after_s = std::vector<double>(cluster.kinds.size(), 0)};
}

/// One GPU of each node averages with those of the others, over the card that it has.
Exchange one_rail(const Cluster& cluster, double bytes) {
  auto exchange = two_level(cluster, bytes);
  exchange.before_s.assign(cluster.kinds.size(), 0);
  exchange.after_s = by_kind(
      cluster, [&](const Level& l) { return planning::binomial_broadcast(cluster.gpus_per_node, bytes, l).seconds; });
  exchange.rate = cluster.kinds.front().nic.bytes_per_s;
  return exchange;
}

Exchanges of_strategy(const Cluster& cluster, const Job& job) {
  const double bytes = job.gradient_bytes;
  switch (job.strategy.kind) {
    case StrategyKind::ring:
      return {.gradients = flat_ring(cluster, bytes)};
    case StrategyKind::tree:
      return {.gradients = tree(cluster, bytes)};
    case StrategyKind::one_bit:
      return {.gradients = one_bit(cluster, job)};
    case StrategyKind::daso:
      return {.gradients = inside_nodes(cluster, bytes), .parameters = one_rail(cluster, bytes)};
    case StrategyKind::local_sgd:
      return {.parameters = two_level(cluster, bytes)};
    case StrategyKind::two_level:
    case StrategyKind::stale:
      break;
  }
  return {.gradients = two_level(cluster, bytes)};
}

}  // namespace

Exchanges exchanges_of(const Cluster& cluster, const Job& job) {
  auto exchanges = of_strategy(cluster, job);
  for (auto* exchange : {&exchanges.gradients, &exchanges.parameters})
    if (*exchange) (*exchange)->latency_s = cluster.kinds.front().nic.latency_s;
  return exchanges;
}

}  // namespace gradwatt::simulation
