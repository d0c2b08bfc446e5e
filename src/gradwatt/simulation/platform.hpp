// A cluster as SimGrid's hosts and links. Private to this folder; lives inside one simulation's process.
//
// A node is one host with three power states; its network cards are one cable of their summed bandwidth, in two
// directions, to a switch that never blocks; below fat trees and dragonflies the nodes of a bundle share one link to
// the rest, of their summed bandwidth over the oversubscription: traffic spreads evenly over parallel uplinks.
// Network model: α + nβ a message, max-min sharing, no TCP window and no cross-traffic: the α–β model with contention.
#pragma once

#include <simgrid/s4u.hpp>

#include <memory>
#include <vector>

#include "gradwatt/planning/cluster/cluster.hpp"

namespace gradwatt::simulation {

/// What the GPUs of a node do; position is the host's power state.
enum class Activity : unsigned char { busy, comm, idle };

/// Work of a host's activities is in seconds of the usual node: a host computes `speed` of them a second.
class Platform {
 public:
  /// Throws what SimGrid throws.
  explicit Platform(const planning::Cluster& cluster);

  [[nodiscard]] simgrid::s4u::Engine& engine() { return *engine_; }
  [[nodiscard]] simgrid::s4u::Host* host(int node) const { return hosts_[static_cast<std::size_t>(node)]; }
  void set(int node, Activity activity) const;
  /// Since the start: of the node with all that stands in it, and of its cable where the file says its watts.
  [[nodiscard]] double node_energy_j(int node) const;
  [[nodiscard]] double link_energy_j(int node) const;

 private:
  simgrid::s4u::NetZone* zone_of_bundle(const planning::Cluster& cluster, int bundle, simgrid::s4u::NetZone* root);
  void add_node(const planning::Cluster& cluster, int node, simgrid::s4u::NetZone* zone);

  std::unique_ptr<simgrid::s4u::Engine> engine_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<simgrid::s4u::SplitDuplexLink*> cables_;
  bool link_watts_ = false;
};

}  // namespace gradwatt::simulation
