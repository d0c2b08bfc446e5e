// Clusters of the tests, in one line each.
#pragma once

#include "gradwatt/planning/cluster/cluster.hpp"

namespace gradwatt::simulation {

inline constexpr planning::Level kTestNic{.latency_s = 5e-6, .bytes_per_s = 1e10};
inline constexpr planning::Level kTestNodeLink{.latency_s = 1e-6, .bytes_per_s = 1e11};

/// Equal nodes on a switch that never blocks: 100 W idle, 300 W computing, 200 W waiting for each GPU.
inline planning::Cluster star(int nodes, int gpus_per_node = 1) {
  planning::Node node{.gpu = "test GPU", .gpu_w = {.idle_w = 100, .busy_w = 300, .comm_w = 200}};
  node.link = kTestNodeLink, node.nic = kTestNic;
  planning::Cluster cluster{.name = "test", .gpus_per_node = gpus_per_node, .kinds = {node}};
  cluster.kind_of.assign(static_cast<std::size_t>(nodes), 0);
  return cluster;
}

inline planning::Cluster fat_tree(int nodes, int nodes_per_switch, double oversubscription) {
  auto cluster = star(nodes);
  cluster.network = {.topology = planning::Topology::fat_tree,
                     .nodes_per_switch = nodes_per_switch,
                     .oversubscription = oversubscription};
  return cluster;
}

}  // namespace gradwatt::simulation
