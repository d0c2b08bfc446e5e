// Reads the cluster file. Keys, units and an example: docs/cluster-file.md.
//
//   nodes = 2
//   gpus_per_node = 8
//   gpu_idle_w = 70
//   …
//   [network]
//   topology = "fat-tree"
//   [[group]]                  # nodes that differ from the others
//   nodes = "0-3"
//   speed = 0.8
#pragma once

#include <filesystem>
#include <string_view>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/cluster/cluster.hpp"

namespace gradwatt::planning {

/// Errors: not_found, unusable_input: one sentence with file, line and key for the first mistake in the file (an
/// unknown key names the nearest one, a value what would be allowed, a missing key who needs it).
[[nodiscard]] core::Result<Cluster> load_cluster(const std::filesystem::path& file);
/// The same from text; `where` stands for the file in messages.
[[nodiscard]] core::Result<Cluster> parse_cluster(std::string_view toml, std::string_view where);

}  // namespace gradwatt::planning
