#include "gradwatt/planning/cluster/cluster.hpp"

namespace gradwatt::planning {

std::string_view name_of(Topology topology) {
  switch (topology) {
    case Topology::fat_tree:
      return "fat-tree";
    case Topology::dragonfly:
      return "dragonfly";
    case Topology::star:
      break;
  }
  return "star";
}

int Network::nodes_per_bundle() const {
  if (topology == Topology::fat_tree) return nodes_per_switch;
  if (topology == Topology::dragonfly) return nodes_per_switch * switches_per_group;
  return 0;
}

Level Cluster::rail() const {
  const auto& usual = kinds.front();
  auto rail = usual.nic;
  rail.bytes_per_s = usual.network_bytes_per_s() / gpus_per_node;
  return rail;
}

}  // namespace gradwatt::planning
