// How wide a figure's 95 % interval is, and from what. Two kinds of error are kept apart because they add up
// differently over devices: random ones (sampling, counter edges) are independent and add in squares; leanings
// (the gain of a kind of sensor, the range of a model) may point the same way in every device and add straight.
#pragma once

#include <cmath>
#include <optional>
#include <utility>

namespace gradwatt::energy {

struct Spread {
  double random_j = 0;                     ///< half width
  double lean_low_j = 0, lean_high_j = 0;  ///< how far the truth may lie below and above by a common leaning
  bool known = false;                      ///< false: nothing is stated and nothing could be computed

  /// Of the sum of two figures.
  Spread& operator+=(const Spread& other) {
    random_j = std::hypot(random_j, other.random_j);
    lean_low_j += other.lean_low_j;
    lean_high_j += other.lean_high_j;
    known = known || other.known;
    return *this;
  }
};

/// Ends of the interval around the figure, not below zero; nothing when the spread is unknown.
[[nodiscard]] inline std::optional<std::pair<double, double>> interval(double figure, const Spread& spread) {
  if (!spread.known) return std::nullopt;
  const double low = figure - std::hypot(spread.random_j, spread.lean_low_j);
  const double high = figure + std::hypot(spread.random_j, spread.lean_high_j);
  return std::pair{std::fmax(0.0, low), high};
}

/// Factor on a standard error for a two-sided 95 % interval by Student's distribution: 1.96 for many degrees of
/// freedom. The fit holds within 2 % from 2 degrees on.
[[nodiscard]] inline double student_95(double degrees) {
  const double d = std::fmax(1.0, degrees);
  return 1.96 + 2.4 / d + 4.5 / (d * d);
}

}  // namespace gradwatt::energy
