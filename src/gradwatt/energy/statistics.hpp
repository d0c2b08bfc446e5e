// Time-weighted mean, extremes and percentiles of a level: each reading counts for as long as it stood (holding.hpp).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "gradwatt/energy/holding.hpp"
#include "gradwatt/energy/summary.hpp"

namespace gradwatt::energy {

/// Smallest values below or at which at least the given shares of the weight lie; exact, in a few linear passes.
/// `values` and `weights` have the same size; nothing when all weights are zero.
[[nodiscard]] std::optional<std::array<std::int64_t, 3>> weighted_percentiles(std::span<const std::int64_t> values,
                                                                              std::span<const double> weights,
                                                                              std::array<double, 3> shares);

/// `holding` is that of the series over the window. Nothing when no time of the window is covered.
[[nodiscard]] std::optional<Statistics> statistics_of(const Series& level, Window window, const Holding& holding);
[[nodiscard]] std::optional<Statistics> statistics_of(const Series& level, Window window);

/// Standard deviation, weighted like the mean; nothing when no time is covered.
[[nodiscard]] std::optional<double> deviation_of(const Series& level, const Holding& holding);

/// The levels that a report shows, of all devices that have them.
[[nodiscard]] std::span<const record::MetricId> levels_of_interest();
[[nodiscard]] std::vector<Statistics> all_statistics(const record::Run& run, Window window);

}  // namespace gradwatt::energy
