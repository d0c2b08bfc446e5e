// The shape of a device's power over time: how far it swings, how often it falls to the base line, how steady it is.
#pragma once

#include <vector>

#include "gradwatt/energy/device_energy.hpp"

namespace gradwatt::energy {

/// One entry a GPU and CPU package that has power or a counter to take it from. A GPU's instant power comes first: an
/// average over a second hides the swings that this is about.
[[nodiscard]] std::vector<PowerProfile> power_profiles(const record::Run& run, Window job);

/// Lowest level that power held for 5 s (longer where readings are rarer than every 2 s), or its mean before the job
/// began where that was seen for as long. Nothing when the load never came clearly down: then no base line was seen.
[[nodiscard]] std::optional<double> idle_level(const Series& power, Window job, double busy_level);

/// Falls from load to the base line that are followed by load again.
[[nodiscard]] std::int64_t count_falls(const Series& power, Window job, double idle_level, double busy_level);

}  // namespace gradwatt::energy
