// The keys of the cluster file that describe a node, as a table: at the top of the file they are the usual node's, in a
// [[group]] those of the nodes that differ. Private to this folder.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gradwatt/planning/cluster/cluster.hpp"

namespace gradwatt::planning {

/// A value of the file that is text or a number; others never fit.
struct Scalar {
  std::optional<double> number;
  std::optional<std::string> text;
  bool whole = false;  ///< the number was written without a point
};

/// A node while it is read: what is not said yet is nothing.
struct NodeDraft {
  std::string gpu, cpu;
  std::optional<double> gpu_idle_w, gpu_busy_w, gpu_comm_w, gpu_cap_w, cpu_w, base_w, network_w, speed;
  std::optional<double> link_gbyte_per_s, link_us, nic_gbit_per_s, nic_us;
  int cpus = 1, nics = 1;
};

struct NodeKey {
  std::string_view name, takes;  ///< `takes`: what is allowed, for the error
  bool (*set)(NodeDraft&, const Scalar&);
};
[[nodiscard]] std::span<const NodeKey> node_keys();

/// A node from its draft; what is missing or contradicts as a sentence that begins with the key. `in_cluster` says
/// which links exist.
struct Incomplete {
  std::string what;
};
[[nodiscard]] std::optional<Incomplete> complete(const NodeDraft& draft, const Shape& in_cluster, Node& node);

}  // namespace gradwatt::planning
