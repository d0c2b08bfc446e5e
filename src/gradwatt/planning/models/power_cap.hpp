// Step time and power of a GPU under a power cap, from a few profiled caps.
//
//   speed  v(p) = [ ((p − p0) / (k − p0))^(−s) + 1 ]^(−1/s)
//   time   T(p) = T_free / v(p)
//   power  W(p) = [ (κ p)^(−q) + W_free^(−q) ]^(−1/q)
//
// p0 is what the GPU draws without working, k the cap from which the work runs free, s and q how sharply the curves
// bend. Above its static draw a GPU's speed rises about linearly with the power it may use until the load runs free:
// the curve is flat, bends at a knee and is steep below. A power law a + b·p^(−k) bends too little at deep caps: from
// the lowest, middle and highest cap of the traces below it errs by 3.8 % of time and energy, this form by 3.2 and 3.4
// %.
//
// Priors (median, spread of the logarithm), as shares of the highest cap: k 0.6 (0.4), p0/k 0.27 (0.35), s 5 (0.4); κ 1
// (0.1), q 8 (0.8). Set with the V100 and A40 power traces of Zeus (NSDI 2023) in view.
//
// Range: between the lowest and the highest profiled cap, never below: there the error is 14 % and more, and under
// about 45 % of the highest cap energy rises again. A load that draws less than a cap does not feel it.
// Known error, held out (tests/corpus/power_cap_test.cpp): profiled at 45, 60 and 100 %, 2.3 % of time, 2.7 % of
// energy.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/fit/least_squares.hpp"

namespace gradwatt::planning {

/// One window of steps under one cap.
struct CapMeasurement {
  double cap_w = 0;
  double step_s = 0;   ///< mean
  double power_w = 0;  ///< mean of one GPU
};

struct CapModel {
  Fit time, power;
  double lowest_w = 0, highest_w = 0;  ///< profiled caps
};

/// Relative scatter of a window's mean: 50 steps that scatter by 3 % give 0.4 %, a drift of clock and temperature more.
inline constexpr double kWindowScatter = 0.01;

/// Unusable input with fewer than three different caps, or a figure that is not above zero.
[[nodiscard]] core::Result<CapModel> fit_power_cap(std::span<const CapMeasurement> measured,
                                                   double scatter = kWindowScatter);

/// Mean power of one GPU under the cap, and its step time relative to that under the highest profiled cap.
[[nodiscard]] double power_at(const CapModel& model, double cap_w);
[[nodiscard]] double slowdown_at(const CapModel& model, double cap_w);
/// The profiled job's step time, s.
[[nodiscard]] double step_s_at(const CapModel& model, double cap_w);
/// With the 90 % interval; holds the form's own error too.
[[nodiscard]] Figure slowdown_figure(const CapModel& model, double cap_w);
[[nodiscard]] Figure step_s_figure(const CapModel& model, double cap_w);
[[nodiscard]] Figure power_figure(const CapModel& model, double cap_w);
/// Spread of the slowdown's logarithm: what the fit leaves open, and the form.
[[nodiscard]] double slowdown_spread(const CapModel& model, double cap_w);

/// Why there is no figure for this cap; nothing when there is one.
[[nodiscard]] std::optional<std::string> gap_of(const CapModel& model, double cap_w);

}  // namespace gradwatt::planning
