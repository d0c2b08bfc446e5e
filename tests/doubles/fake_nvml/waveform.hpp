// Power over time as a formula whose integral is known exactly: what the fake driver plays and what tests compare with.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gradwatt::doubles {

struct Waveform {
  enum class Shape { constant, square, saw };
  Shape shape = Shape::constant;
  double low_w = 100, high_w = 100;
  double period_s = 1;
  double duty = 0.5;  ///< of a square: share of the period at the low level, which comes first

  /// Power at `t_s` seconds of the clock that the waveform runs on (phase 0 at 0).
  [[nodiscard]] double power_w(double t_s) const {
    if (shape == Shape::constant) return low_w;
    const double phase = t_s / period_s - std::floor(t_s / period_s);
    if (shape == Shape::square) return phase < duty ? low_w : high_w;
    return low_w + (high_w - low_w) * phase;
  }
  /// Integral of the power from clock 0.
  [[nodiscard]] double energy_j(std::int64_t t_ns) const {
    const double t_s = static_cast<double>(t_ns) * 1e-9;
    if (shape == Shape::constant) return low_w * t_s;
    const double periods = std::floor(t_s / period_s);
    return periods * energy_of_phase(1) + energy_of_phase(t_s / period_s - periods);
  }
  [[nodiscard]] double mean_w(std::int64_t begin_ns, std::int64_t end_ns) const {
    return (energy_j(end_ns) - energy_j(begin_ns)) / (static_cast<double>(end_ns - begin_ns) * 1e-9);
  }

 private:
  [[nodiscard]] double energy_of_phase(double phase) const {
    if (shape == Shape::square)
      return period_s * (low_w * std::min(phase, duty) + high_w * std::max(0.0, phase - duty));
    return period_s * (low_w * phase + (high_w - low_w) * phase * phase / 2);
  }
};

}  // namespace gradwatt::doubles
