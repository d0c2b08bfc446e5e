// For how long each reading of a level stands: the weights behind every integral, mean and percentile. One rule for
// all of them, so that mean power × covered time is the energy.
//
// Between two neighbouring readings the level runs straight (trapezoid). That stays unbiased for readings at random
// instants of each period too: the weight of a reading inside the run depends only on its neighbours' instants, not
// on its own, and its mean is one period. Against "each reading stands for its own period" the random error of a
// slow wave falls by a seventh and that of a fast one grows by a fiftieth.
//
// - stratified: neighbours in the same or adjacent periods are joined; a period without a reading is a gap; at a gap
//   and at both ends a reading stands to the border of its own period.
// - deadline, irregular: neighbours at most 3 cadences apart are joined; no reading stands beyond itself.
#pragma once

#include <vector>

#include "gradwatt/energy/readings.hpp"

namespace gradwatt::energy {

struct Holding {
  std::size_t first = 0;          ///< reading that weight_ns[0] belongs to
  std::vector<double> weight_ns;  ///< one a reading from `first` on; sums to covered_ns
  std::vector<Window> pieces;     ///< covered stretches in order, none touching the next
  double covered_ns = 0;

  [[nodiscard]] double covered_s() const { return covered_ns * kSecondsPerNanosecond; }
};

/// Weights within the window. Readings outside it count only for the straight line that crosses its edge.
[[nodiscard]] Holding hold(const Series& series, Window window);

/// Columns of one device mostly share times and rule: the weights of the last series are kept for the next one.
class SharedHolding {
 public:
  explicit SharedHolding(Window window) : window_(window) {}
  /// Valid until the next call.
  const Holding& of(const Series& series);

 private:
  struct Key {
    const std::int64_t* times = nullptr;
    std::size_t size = 0;
    record::Sampling sampling{};
    std::int64_t cadence_ns = 0, phase_ns = 0;
    bool operator==(const Key&) const = default;
  };
  Window window_;
  Key key_;
  Holding last_;
};

}  // namespace gradwatt::energy
