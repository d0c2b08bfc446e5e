// Power over time in closed form: the truth that a scripted device's energy is measured against.
#pragma once

#include "gradwatt/core/clock.hpp"
#include "gradwatt/units/quantity.hpp"

namespace gradwatt::replay {

enum class Shape {
  constant,  ///< `high` all the time
  square,    ///< `high` for `duty` of each period, then `low`
  saw,       ///< from `low` straight up to `high`, then down at once
};

struct Wave {
  Shape shape = Shape::constant;
  units::Power low, high;
  core::Duration period = std::chrono::seconds(1);  ///< above 0
  double duty = 0.5;                                ///< 0–1
  core::Duration phase{0};                          ///< time of the first period that lies before t = 0

  [[nodiscard]] units::Power at(core::Duration t) const;
  /// Integral from 0 to t, exact but for rounding of doubles.
  [[nodiscard]] units::Energy until(core::Duration t) const;
};

[[nodiscard]] Wave constant(units::Power level);
[[nodiscard]] Wave square(units::Power low, units::Power high, core::Duration period, double duty = 0.5);
[[nodiscard]] Wave saw(units::Power low, units::Power high, core::Duration period);

}  // namespace gradwatt::replay
