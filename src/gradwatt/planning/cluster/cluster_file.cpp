#include "gradwatt/planning/cluster/cluster_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/planning/cluster/node_keys.hpp"
#include "gradwatt/planning/cluster/node_list.hpp"

namespace gradwatt::planning {
namespace {

constexpr int kMostNodes = 65536, kMostGpus = 1024;
constexpr double kMostOversubscription = 1000, kMostWatts = 1e6, kMostMicroseconds = 1e6;

using Failure = tl::unexpected<core::Error>;

/// What is wrong, where: every message of this file begins so.
struct Place {
  std::string_view file;

  [[nodiscard]] Failure wrong(const toml::node& at, std::string_view what) const {
    return core::fail(core::Errc::unusable_input, fmt::format("{}:{}: {}", file, at.source().begin.line, what));
  }
};

/// At the line of the key that the sentence begins with; where that is missing, at its group or the file as a whole.
Failure incomplete(const Place& place, const toml::table& table, const Incomplete& wrong) {
  const auto* key = table.get(wrong.what.substr(0, wrong.what.find(' ')));
  if (key != nullptr) return place.wrong(*key, wrong.what);
  if (table.source().begin.line > 1) return place.wrong(table, wrong.what);
  return core::fail(core::Errc::unusable_input, fmt::format("{}: {}", place.file, wrong.what));
}

Scalar scalar_of(const toml::node& node) {
  Scalar value;
  if (const auto* whole = node.as_integer()) value.number = static_cast<double>(whole->get()), value.whole = true;
  if (const auto* real = node.as_floating_point()) value.number = real->get();
  if (const auto* text = node.as_string()) value.text = text->get();
  return value;
}

std::string shown(const toml::node& node) {
  const auto value = scalar_of(node);
  if (value.text) return fmt::format("'{}'", *value.text);
  return value.number ? fmt::format("{}", *value.number) : "a value of another kind";
}

Failure not_allowed(const Place& place, std::string_view key, const toml::node& node, std::string_view takes) {
  return place.wrong(node, fmt::format("{} = {} makes no sense; it takes {}", key, shown(node), takes));
}

Failure unknown(const Place& place, std::string_view key, const toml::node& node, std::vector<std::string_view> known) {
  const auto nearest = core::nearest(key, known);
  return place.wrong(
      node, fmt::format("there is no key '{}' here{}", key,
                        nearest ? fmt::format("; did you mean '{}'?", *nearest) : "; docs/cluster-file.md lists all"));
}

/// A key with a plain number.
struct NumberKey {
  std::string_view name, takes;
  double low, high;
  bool whole;
};
std::optional<double> number_in(const NumberKey& key, const toml::node& node) {
  const auto value = scalar_of(node);
  if (!value.number || !(*value.number >= key.low && *value.number <= key.high) || (key.whole && !value.whole))
    return std::nullopt;
  return value.number;
}

constexpr NumberKey kNodes{"nodes", "a whole number from 1 to 65536", 1, kMostNodes, true};
constexpr NumberKey kGpus{"gpus_per_node", "a whole number from 1 to 1024", 1, kMostGpus, true};

core::Result<double> required(const Place& place, const toml::table& root, const NumberKey& key) {
  const auto* node = root.get(key.name);
  if (node == nullptr)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{}: {} is missing; it takes {}", place.file, key.name, key.takes));
  const auto value = number_in(key, *node);
  if (!value) return not_allowed(place, key.name, *node, key.takes);
  return *value;
}

/// Sets `key` of the draft. False: it is no key of a node.
core::Result<bool> set_node_key(const Place& place, std::string_view key, const toml::node& node, NodeDraft& draft) {
  for (const auto& row : node_keys()) {
    if (row.name != key) continue;
    if (!row.set(draft, scalar_of(node))) return not_allowed(place, key, node, row.takes);
    return true;
  }
  return false;
}

std::vector<std::string_view> names_of_node_keys(std::initializer_list<std::string_view> others) {
  std::vector<std::string_view> names(others);
  for (const auto& row : node_keys()) names.push_back(row.name);
  return names;
}

core::Result<NodeDraft> read_usual_node(const Place& place, const toml::table& root) {
  static constexpr std::array kOthers{"name", "nodes", "gpus_per_node", "network", "group"};
  NodeDraft draft;
  for (const auto& [key, node] : root) {
    if (std::ranges::find(kOthers, key.str()) != kOthers.end()) continue;
    const auto set = set_node_key(place, key.str(), node, draft);
    if (!set) return core::fail(set.error());
    if (!*set)
      return unknown(place, key.str(), node,
                     names_of_node_keys({"name", "nodes", "gpus_per_node", "network", "group"}));
  }
  return draft;
}

constexpr auto kNetworkNumbers = std::to_array<NumberKey>({
    {"nodes_per_switch", "a whole number from 1 to 65536", 1, kMostNodes, true},
    {"switches_per_group", "a whole number from 1 to 65536", 1, kMostNodes, true},
    {"oversubscription", "a factor from 1 to 1000", 1, kMostOversubscription, false},
    {"uplink_us", "microseconds from 0 to 1000000", 0, kMostMicroseconds, false},
    {"link_idle_w", "watts from 0 to 1000000", 0, kMostWatts, false},
    {"link_busy_w", "watts from 0 to 1000000", 0, kMostWatts, false},
});

void set_network_number(Network& network, std::string_view key, double value) {
  if (key == "nodes_per_switch") network.nodes_per_switch = static_cast<int>(value);
  if (key == "switches_per_group") network.switches_per_group = static_cast<int>(value);
  if (key == "oversubscription") network.oversubscription = value;
  if (key == "uplink_us") network.uplink_latency_s = value * 1e-6;
  if (key == "link_idle_w") network.link_idle_w = value;
  if (key == "link_busy_w") network.link_busy_w = value;
}

core::Result<Topology> topology_of(const Place& place, const toml::node& node) {
  const auto text = scalar_of(node).text.value_or("");
  for (const auto topology : {Topology::star, Topology::fat_tree, Topology::dragonfly})
    if (name_of(topology) == text) return topology;
  return not_allowed(place, "topology", node, "one of star, fat-tree, dragonfly");
}

core::Result<void> check_network(const Place& place, const toml::table& table, const Network& network) {
  const auto missing = [&](std::string_view key) {
    return place.wrong(table, fmt::format("{} is missing in [network]: a {} needs it", key, name_of(network.topology)));
  };
  const bool levels = network.topology != Topology::star;
  if (levels && network.nodes_per_switch == 0) return missing("nodes_per_switch");
  if (network.topology == Topology::dragonfly && network.switches_per_group == 0) return missing("switches_per_group");
  for (const auto key : {"nodes_per_switch", "oversubscription", "uplink_us"})
    if (const auto* node = table.get(key); node != nullptr && !levels)
      return place.wrong(*node, fmt::format("{} has no meaning in a star: its one switch never blocks", key));
  if (const auto* node = table.get("switches_per_group"); node != nullptr && network.topology != Topology::dragonfly)
    return place.wrong(*node, "switches_per_group has a meaning in a dragonfly only");
  if (network.link_idle_w.has_value() != network.link_busy_w.has_value())
    return place.wrong(table, "link_idle_w and link_busy_w belong together: give both or none");
  if (network.link_idle_w && *network.link_idle_w > *network.link_busy_w)
    return place.wrong(*table.get("link_idle_w"), "link_idle_w is above link_busy_w");
  return {};
}

core::Result<Network> read_network(const Place& place, const toml::table& root) {
  Network network;
  const auto* node = root.get("network");
  if (node == nullptr) return network;
  const auto* table = node->as_table();
  if (table == nullptr) return place.wrong(*node, "network is a table: write [network] above its keys");
  std::vector<std::string_view> known{"topology"};
  for (const auto& row : kNetworkNumbers) known.push_back(row.name);
  for (const auto& [key, value] : *table) {
    if (key.str() == "topology") {
      const auto topology = topology_of(place, value);
      if (!topology) return core::fail(topology.error());
      network.topology = *topology;
      continue;
    }
    const auto* row = std::ranges::find(kNetworkNumbers, key.str(), &NumberKey::name);
    if (row == kNetworkNumbers.end()) return unknown(place, key.str(), value, known);
    const auto number = number_in(*row, value);
    if (!number) return not_allowed(place, row->name, value, row->takes);
    set_network_number(network, row->name, *number);
  }
  if (auto good = check_network(place, *table, network); !good) return core::fail(good.error());
  return network;
}

core::Result<std::vector<int>> nodes_of_group(const Place& place, const toml::table& group, int count) {
  const auto* node = group.get("nodes");
  if (node == nullptr)
    return place.wrong(group, "nodes is missing in [[group]]: which nodes differ, such as \"0-3,17\"");
  const auto value = scalar_of(*node);
  const auto text = value.text    ? *value.text
                    : value.whole ? std::to_string(static_cast<std::int64_t>(*value.number))
                                  : std::string();
  auto nodes = parse_node_list(text, count);
  if (!nodes)
    return not_allowed(place, "nodes", *node,
                       fmt::format("numbers of nodes from 0 to {}, such as \"0-3,17\"", count - 1));
  return *nodes;
}

core::Result<void> read_group(const Place& place, const toml::table& group, NodeDraft draft, Cluster& cluster) {
  const auto nodes = nodes_of_group(place, group, cluster.node_count());
  if (!nodes) return core::fail(nodes.error());
  // Another device, other watts: those of the usual node do not hold.
  if (group.contains("gpu")) draft.gpu_idle_w = draft.gpu_busy_w = draft.gpu_comm_w = std::nullopt;
  if (group.contains("cpu")) draft.cpu_w.reset();
  for (const auto& [key, value] : group) {
    if (key.str() == "nodes") continue;
    if (key.str() == "gpus_per_node")
      return place.wrong(value, "gpus_per_node is the same for all nodes: the exchanges of a step need equal nodes");
    const auto set = set_node_key(place, key.str(), value, draft);
    if (!set) return core::fail(set.error());
    if (!*set) return unknown(place, key.str(), value, names_of_node_keys({"nodes"}));
  }
  Node kind;
  if (const auto wrong = complete(draft, cluster.shape(), kind)) return incomplete(place, group, *wrong);
  const auto index = static_cast<std::uint32_t>(cluster.kinds.size());
  cluster.kinds.push_back(std::move(kind));
  for (const int node : *nodes) {
    auto& place_of = cluster.kind_of[static_cast<std::size_t>(node)];
    if (place_of != 0) return place.wrong(*group.get("nodes"), fmt::format("nodes: {} is in two groups", node));
    place_of = index;
  }
  return {};
}

core::Result<void> read_groups(const Place& place, const toml::table& root, const NodeDraft& usual, Cluster& cluster) {
  const auto* node = root.get("group");
  if (node == nullptr) return {};
  const auto* groups = node->as_array();
  if (groups == nullptr) return place.wrong(*node, "group is a list of tables: write [[group]] above its keys");
  for (const auto& element : *groups) {
    const auto* group = element.as_table();
    if (group == nullptr) return place.wrong(element, "group is a list of tables: write [[group]] above its keys");
    if (auto done = read_group(place, *group, usual, cluster); !done) return done;
  }
  return {};
}

core::Result<Cluster> build(const Place& place, const toml::table& root) {
  // Keys that are none first: a misspelt one is why another is missing.
  const auto usual = read_usual_node(place, root);
  if (!usual) return core::fail(usual.error());
  const auto nodes = required(place, root, kNodes);
  if (!nodes) return core::fail(nodes.error());
  const auto gpus = required(place, root, kGpus);
  if (!gpus) return core::fail(gpus.error());
  Cluster cluster{.gpus_per_node = static_cast<int>(*gpus), .kinds = {Node{}}};
  cluster.kind_of.assign(static_cast<std::size_t>(*nodes), 0);
  if (const auto* name = root.get("name")) {
    if (!name->is_string()) return not_allowed(place, "name", *name, "a name in quotes");
    cluster.name = name->as_string()->get();
  }
  if (const auto wrong = complete(*usual, cluster.shape(), cluster.kinds.front()))
    return incomplete(place, root, *wrong);
  auto network = read_network(place, root);
  if (!network) return core::fail(network.error());
  cluster.network = *network;
  if (auto done = read_groups(place, root, *usual, cluster); !done) return core::fail(done.error());
  return cluster;
}

}  // namespace

core::Result<Cluster> parse_cluster(std::string_view text, std::string_view where) {
  try {
    return build({where}, toml::parse(text, where));
  } catch (const toml::parse_error& error) {
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{}:{}: {}", where, error.source().begin.line, error.description()));
  }
}

core::Result<Cluster> load_cluster(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) return core::fail(core::file_error("open the cluster file", file, errno));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  auto cluster = parse_cluster(text, file.string());
  if (cluster && cluster->name.empty()) cluster->name = file.stem().string();
  return cluster;
}

}  // namespace gradwatt::planning
