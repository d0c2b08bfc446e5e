// Watts of a node that do not depend on what its GPUs do: what platform and record must agree on. Private to this
// folder.
#pragma once

#include "gradwatt/planning/cluster/cluster.hpp"

namespace gradwatt::simulation {

/// Parts that the file does not tell count nothing.
[[nodiscard]] inline double steady_watts(const planning::Node& node) {
  return node.cpus * node.cpu_w.value_or(0) + node.base_w.value_or(0) + node.network_w.value_or(0);
}

}  // namespace gradwatt::simulation
