// What energy means for the building, the bill and the climate, by the user's own factors only: no country defaults.
#pragma once

#include "gradwatt/energy/summary.hpp"

namespace gradwatt::energy {

/// Each field is absent unless its factor and the energy are known.
[[nodiscard]] Consequences consequences_of(std::optional<double> energy_j, const Factors& factors);

/// kWh that one GPU used in one hour of measured time, over the GPUs that count. Nothing without GPU energy.
[[nodiscard]] std::optional<double> kwh_per_gpu_hour(const Component& gpu, double duration_s);

}  // namespace gradwatt::energy
