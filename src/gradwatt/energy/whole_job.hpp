// Energy of the whole job within a window: the sum over the devices that count in the total (without "rest", which no
// device measures). What steps, epochs and regions are charged with.
#pragma once

#include <optional>
#include <vector>

#include "gradwatt/energy/device_energy.hpp"

namespace gradwatt::energy {

/// A window counts only when every device covers at least this part of it. What is missing is not filled in.
inline constexpr double kLeastCoverage = 0.95;
/// Shortest stretch that counts as resolved: this many updates of the slowest device.
inline constexpr std::int64_t kLeastUpdates = 10;

struct WholeJobEnergy {
  double energy_j = 0;  ///< within the covered part
  double power_w = 0;   ///< sum of the devices' mean power there
  double edges_j = 0;   ///< how far edges between two readings may be off
  record::How how = record::How::counter;
};
/// Nothing when no device counts, or one of them covers too little of the window.
[[nodiscard]] std::optional<WholeJobEnergy> whole_job_energy(const std::vector<Measured>& devices, Window window);

/// kLeastUpdates of the slowest counted device; 0 when no device counts.
[[nodiscard]] std::int64_t resolved_ns(const std::vector<Measured>& devices);

}  // namespace gradwatt::energy
