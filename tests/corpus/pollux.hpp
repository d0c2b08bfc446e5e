// The step times of the Pollux traces (OSDI 2021): steps and waiting over placement and local batch, T4, 1-64 GPUs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gradwatt/core/text.hpp"
#include "gradwatt/planning/models/throughput.hpp"
#include "tests/corpus/csv_rows.hpp"

namespace gradwatt::planning {

/// placements.csv names the GPUs of each node by a digit; scalability.csv spreads replicas evenly over nodes.
inline std::vector<StepObservation> pollux_steps(const std::filesystem::path& folder) {
  std::vector<StepObservation> out;
  for (const auto& row : csv_rows(folder / "placements.csv")) {
    double gpus = 0;
    for (const char digit : row.at("placement")) gpus += digit - '0';
    out.push_back({{gpus, static_cast<double>(row.at("placement").size()), std::stod(row.at("local_bsz")), 1},
                   std::stod(row.at("step_time")),
                   std::stod(row.at("sync_time"))});
  }
  for (const auto& row : csv_rows(folder / "scalability.csv"))
    out.push_back(
        {{std::stod(row.at("num_replicas")), std::stod(row.at("num_nodes")), std::stod(row.at("local_bsz")), 1},
         std::stod(row.at("step_time")),
         std::stod(row.at("sync_time"))});
  return out;
}

}  // namespace gradwatt::planning
