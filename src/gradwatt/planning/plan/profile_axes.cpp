#include "gradwatt/planning/plan/profile_axes.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace gradwatt::planning {

Axes axes_of(std::span<const ProfileRow> rows, double gpus_per_node) {
  Axes out;
  std::set<double> local, global, gpus;
  double most = 1, node = 1;
  for (const auto& row : rows) {
    const auto& load = row.step.load;
    local.insert(load.local_batch);
    global.insert(load.local_batch * load.replicas * load.accumulation);
    gpus.insert(row.gpus);
    most = std::max(most, row.gpus);
    node = std::max(node, std::ceil(row.gpus / load.nodes));
    out.gpus_per_replica = std::max(out.gpus_per_replica, std::round(row.gpus / load.replicas));
  }
  out.gpus_per_node = gpus_per_node > 0 ? gpus_per_node : node;
  for (double n = out.gpus_per_replica; n <= kReach * most; n *= 2)
    if (n <= out.gpus_per_node || std::fmod(n, out.gpus_per_node) == 0) gpus.insert(n);
  for (double nodes = 1; nodes * out.gpus_per_node <= kReach * most; nodes *= 2) gpus.insert(nodes * out.gpus_per_node);
  out.gpus.assign(gpus.begin(), gpus.end());
  for (const double samples : local) out.batches.push_back({BatchRule::local, samples});
  for (const double samples : global) out.batches.push_back({BatchRule::global, samples});
  return out;
}

}  // namespace gradwatt::planning
