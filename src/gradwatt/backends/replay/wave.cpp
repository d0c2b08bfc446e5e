#include "gradwatt/backends/replay/wave.hpp"

#include <algorithm>
#include <cmath>

namespace gradwatt::replay {
namespace {

/// Place in the wave as whole periods and the rest, 0 ≤ rest < 1.
struct Place {
  double periods, rest;
};
Place place(const Wave& wave, core::Duration t) {
  const auto from_start = t + wave.phase;
  auto whole = from_start / wave.period;
  auto rest = from_start % wave.period;
  if (rest.count() < 0) rest += wave.period, --whole;
  return {static_cast<double>(whole), static_cast<double>(rest.count()) / static_cast<double>(wave.period.count())};
}

/// Mean level over one period, above `low`, as a share of high − low; and its part up to `rest`.
double part(const Wave& wave, double rest) {
  return wave.shape == Shape::saw ? rest * rest / 2 : std::min(rest, wave.duty);
}

/// Integral from the begin of the wave's first period.
units::Energy from_begin(const Wave& wave, core::Duration t) {
  const auto [periods, rest] = place(wave, t);
  const auto low = wave.low * (t + wave.phase);
  return low + (wave.high - wave.low) * (periods * part(wave, 1) + part(wave, rest)) * wave.period;
}

}  // namespace

units::Power Wave::at(core::Duration t) const {
  if (shape == Shape::constant) return high;
  const auto rest = place(*this, t).rest;
  if (shape == Shape::saw) return low + (high - low) * rest;
  return rest < duty ? high : low;
}

units::Energy Wave::until(core::Duration t) const {
  if (shape == Shape::constant) return high * t;
  return from_begin(*this, t) - from_begin(*this, core::Duration(0));
}

Wave constant(units::Power level) { return {.shape = Shape::constant, .low = level, .high = level}; }
Wave square(units::Power low, units::Power high, core::Duration period, double duty) {
  return {.shape = Shape::square, .low = low, .high = high, .period = period, .duty = duty};
}
Wave saw(units::Power low, units::Power high, core::Duration period) {
  return {.shape = Shape::saw, .low = low, .high = high, .period = period};
}

}  // namespace gradwatt::replay
