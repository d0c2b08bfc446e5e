// Energy from measured power, where no counter exists, and how sure it is.
#pragma once

#include <optional>

#include "gradwatt/energy/holding.hpp"

namespace gradwatt::energy {

struct IntegratedEnergy {
  double energy_j = 0;  ///< over the covered time only
  double covered_s = 0;
  std::vector<Window> pieces;  ///< what is covered
  /// Half width of the 95 % interval of the sampling error, from differences of successive readings (strata of one
  /// reading each, collapsed in pairs): exact on average for a load faster than the sampling, too wide for a slower
  /// one, blind to one that runs in step with fixed deadlines. Nothing with fewer than two neighbours.
  std::optional<double> sampling_j;
  double edge_step_w = 0;  ///< |last − first level|: what a trailing average misses at the edges, a second
};

/// Nothing when no time of the window is covered.
[[nodiscard]] std::optional<IntegratedEnergy> integrate(const Series& power, Window window);

}  // namespace gradwatt::energy
