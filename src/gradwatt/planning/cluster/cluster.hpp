// A cluster as planner and simulator see it: nodes, what they draw, and the links between them. It comes from a TOML
// file (cluster_file.hpp, docs/cluster-file.md); nothing here says how fast a job computes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/planning/collectives/cost.hpp"

namespace gradwatt::planning {

/// What a GPU draws. All three or none are known.
struct GpuWatts {
  double idle_w = 0;  ///< nothing runs
  double busy_w = 0;  ///< computing; where the power is capped, the cap
  double comm_w = 0;  ///< waiting for a collective that nothing hides
};

struct Node {
  std::string gpu;  ///< by catalog name
  std::string cpu;
  int cpus = 1;  ///< packages
  GpuWatts gpu_w;
  std::optional<double> gpu_cap_w;  ///< power limit of each GPU; gpu_w already keeps to it
  std::optional<double> cpu_w;      ///< of one package while the job runs; nothing: not known, in no total
  bool gpu_idle_w_from_catalog = false;
  bool cpu_w_from_catalog = false;  ///< then it is an estimate from TDP and an assumed load
  double speed = 1;  ///< computing speed over that of the usual node: capped, older or slow ones are below 1
  Level link{.latency_s = 0, .bytes_per_s = 1};  ///< of one GPU to the others of its node
  int nics = 1;
  Level nic{.latency_s = 0, .bytes_per_s = 1};  ///< of one network card
  std::optional<double> base_w;     ///< fans, disks, memory, board, loss of the power supply; nothing: in no total
  std::optional<double> network_w;  ///< the node's cards and share of switches, whatever they carry

  [[nodiscard]] double network_bytes_per_s() const { return nics * nic.bytes_per_s; }
};

enum class Topology : std::uint8_t {
  star,       ///< one switch that never blocks
  fat_tree,   ///< leaf switches whose uplinks may be oversubscribed, below a core that never blocks
  dragonfly,  ///< groups of leaf switches; links within a group never block, those between groups may
};
[[nodiscard]] std::string_view name_of(Topology topology);

struct Network {
  Topology topology = Topology::star;
  int nodes_per_switch = 0;     ///< of fat tree and dragonfly
  int switches_per_group = 0;   ///< of a dragonfly
  double oversubscription = 1;  ///< bandwidth below a leaf switch (a group) over that of its links to the rest, ≥ 1
  double uplink_latency_s = 0;  ///< added to a message that leaves the switch (the group)
  std::optional<double> link_idle_w, link_busy_w;  ///< of one node's cable, both directions, at no and at full load

  /// Nodes that share one oversubscribed bundle of links; 0: none does.
  [[nodiscard]] int nodes_per_bundle() const;
};

struct Cluster {
  std::string name;
  int gpus_per_node = 1;
  std::vector<Node> kinds;             ///< the usual node first
  std::vector<std::uint32_t> kind_of;  ///< position in `kinds`, one a node
  Network network;

  [[nodiscard]] int node_count() const { return static_cast<int>(kind_of.size()); }
  [[nodiscard]] const Node& node(int i) const { return kinds[kind_of[static_cast<std::size_t>(i)]]; }
  [[nodiscard]] Shape shape() const { return {.nodes = node_count(), .gpus_per_node = gpus_per_node}; }
  /// What one GPU has between nodes, on the usual node: its share of the node's cards.
  [[nodiscard]] Level rail() const;
};

}  // namespace gradwatt::planning
