#include "gradwatt/planning/plan/strategies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/core/text.hpp"
#include "gradwatt/planning/collectives/asynchronous.hpp"
#include "gradwatt/planning/collectives/one_bit.hpp"
#include "gradwatt/planning/collectives/ring.hpp"
#include "gradwatt/planning/collectives/tree.hpp"
#include "gradwatt/planning/collectives/two_level.hpp"

namespace gradwatt::planning {
namespace {

struct Links {
  Level node, rail, network;
};

double two_level_s(const Shape& shape, double bytes, const Links& links) {
  return two_level_sharded(shape, bytes, links.node, links.rail).seconds();
}
double ring_s(const Shape& shape, double bytes, const Links& links) {
  return ring_over_nodes(shape, bytes, links.node, links.network).seconds();
}
double tree_s(const Shape& shape, double bytes, const Links& links) {
  const auto inside = pipelined_chain(shape.gpus_per_node, bytes, links.node) * 2;
  return inside.seconds + (shape.nodes > 1 ? double_tree_all_reduce(shape.nodes, bytes, links.network).seconds : 0);
}
double one_bit_s(const Shape& shape, double bytes, const Links& links) {
  return one_bit_all_reduce(shape, bytes, links.node, links.rail, {}).seconds();
}
/// 8 local steps lie in the middle of the published range.
double local_sgd_s(const Shape& shape, double bytes, const Links& links) {
  constexpr int kPeriod = 8;
  return local_sgd_cost(two_level_sharded(shape, bytes, links.node, links.rail), kPeriod).seconds();
}

struct Row {
  std::string_view name;
  double (*seconds)(const Shape&, double bytes, const Links&);
  std::string_view caution;
};
constexpr auto kRows = std::to_array<Row>({
    {"two-level", two_level_s, ""},
    {"ring", ring_s, ""},
    {"tree", tree_s, ""},
    {"one-bit", one_bit_s, "changes what is learnt: signs instead of gradients; its compression is taken as free"},
    {"local-sgd", local_sgd_s, "changes what is learnt: parameters are averaged every 8 steps"},
});

}  // namespace

core::Result<StrategyOption> strategy_option(std::string_view name, const Cluster& cluster, double gradient_bytes) {
  const auto* row = std::ranges::find(kRows, name, &Row::name);
  if (row == kRows.end()) {
    std::string names;
    for (const auto& known : kRows) names += (names.empty() ? "" : ", ") + std::string(known.name);
    return core::fail(core::Errc::wrong_use, fmt::format("a plan knows no strategy '{}'; there are {}", name, names));
  }
  const auto& node = cluster.kinds.front();
  const Links links{node.link, cluster.rail(), {node.nic.latency_s, node.network_bytes_per_s()}};
  StrategyOption out{.name = std::string(name), .caution = std::string(row->caution)};
  if (row->seconds == two_level_s) return out;
  out.cost_ratio = [seconds = row->seconds, links, gradient_bytes](const Shape& shape) {
    const double usual = two_level_s(shape, gradient_bytes, links);
    return usual > 0 ? seconds(shape, gradient_bytes, links) / usual : 1;
  };
  return out;
}

}  // namespace gradwatt::planning
