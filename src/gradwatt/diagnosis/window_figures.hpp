// Plain figures of one series in a window: mean level, growth of a counter. What triggers compare with thresholds.
#pragma once

#include <optional>

#include "gradwatt/energy/readings.hpp"

namespace gradwatt::diagnosis {

struct Level {
  double mean = 0;  ///< time-weighted, in the metric's unit
  double covered_s = 0;
};
/// Nothing when no time of the window is covered.
[[nodiscard]] std::optional<Level> level_in(const energy::Series& series, energy::Window window);
[[nodiscard]] std::optional<Level> level_in(const record::Run& run, record::DeviceIndex device, record::MetricId metric,
                                            energy::Window window);

struct Growth {
  double amount = 0;   ///< in the metric's unit
  double seconds = 0;  ///< between the readings that it is taken from
};
/// From the first to the last reading inside the window; nothing with fewer than two.
[[nodiscard]] std::optional<Growth> growth_in(const record::Run& run, record::DeviceIndex device,
                                              record::MetricId counter, energy::Window window);

}  // namespace gradwatt::diagnosis
