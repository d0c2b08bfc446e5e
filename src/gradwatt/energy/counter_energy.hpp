// Energy as a counter gives it: last total − first total, in the counter's own integers until the last step. What
// lies between does not matter: a failed or late reading loses nothing, because the counter went on counting.
#pragma once

#include <optional>
#include <span>

#include "gradwatt/energy/readings.hpp"

namespace gradwatt::energy {

struct CounterEnergy {
  double energy_j = 0;
  Window covered;        ///< first to last instant that it counts between
  double covered_s = 0;  ///< of it, less the time in which the counter began again: that energy is unknown
  double edges_j = 0;    ///< how far straight lines at edges between two readings may be off; 0 at readings
};

/// Over the window, or the part of it between the first and last reading. An edge between two readings at most two
/// cadences apart lies on the straight line between them; else the nearest reading inside counts.
/// `reset_ns`: ascending times at which the guard saw the counter begin again.
/// Nothing with fewer than two instants in the window.
[[nodiscard]] std::optional<CounterEnergy> counter_energy(const Series& counter, Window window,
                                                          std::span<const std::int64_t> reset_ns);

/// A run's last reading is asked for when the job has ended and comes a moment later; its first, with --wait-sensors, a
/// moment before the job begins.
inline constexpr std::int64_t kEdgeReading_ns = 250'000'000;
/// The job with its edges on such readings, so that a run's total is last minus first exactly.
[[nodiscard]] Window on_edge_readings(const Series& counter, Window job);

/// Times of the counter's resets as far as events tell; at most as many as its quality counts.
[[nodiscard]] std::vector<std::int64_t> resets_of(const record::Run& run, const Series& counter);

/// Mean power between neighbouring readings as a series of its own, in mW at the end of each stretch; for the shape of
/// a device's power where only its counter is known. Nothing with fewer than two readings or where a counter of the
/// kind has no power beside it in the metric table.
[[nodiscard]] std::optional<Series> power_from(const Series& counter, record::MetricId power);

}  // namespace gradwatt::energy
