// Tables of the articles, computed anew from the presets: lines of text, each ends with a line break.
#pragma once

#include <string>

namespace gradwatt::planning {

/// What a GPU-hour costs, by model and GPU, and the node power that it means.
[[nodiscard]] std::string coefficient_table();
/// ResNet50 on A100 over the number of GPUs: hours, GPU-hours, energy, for either batch strategy.
[[nodiscard]] std::string fixed_global_batch_table();
[[nodiscard]] std::string fixed_local_batch_table();
/// FourCastNet on H100 against A100: energy, from less time and another coefficient.
[[nodiscard]] std::string h100_energy_line();
/// Share of CPU and memory in a node's power, over the GPUs in use.
[[nodiscard]] std::string host_share_table();

}  // namespace gradwatt::planning
