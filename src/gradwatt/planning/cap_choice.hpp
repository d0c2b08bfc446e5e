// Which power cap costs least energy while the steps get no slower than allowed: profile three caps, fit, choose,
// verify the choice once, step up where it was too slow. 200 steps instead of the 650 to 1050 of a walk through all
// caps.
//
// Pure but for the callback, which sets a cap, runs steps and tells what it saw; whoever gives it restores the old cap.
//
//   choose_cap({.caps_w = {100, 125, …, 300}}, [&](double cap_w, int steps) { … });
//
// Measured on the Zeus traces (V100 and A40, loads that a cap reaches, 3 % noise a step): tests/corpus/power_cap_test.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/models/power_cap.hpp"

namespace gradwatt::planning {

struct CapQuestion {
  std::vector<double> caps_w;    ///< that may be set; the largest stands for "no cap"
  double slowdown_limit = 0.05;  ///< of the step time, against the largest cap
  double other_w = 0;            ///< a GPU's share of what the node draws besides; it makes slow steps dearer
  int window_steps = 50;         ///< of one measurement
};

/// Sets the cap, runs that many steps, and says their mean time and power.
using MeasureCap = std::function<core::Result<CapMeasurement>(double cap_w, int steps)>;

struct CapChoice {
  double cap_w = 0;
  double slowdown = 1;    ///< expected, against the largest cap
  double energy = 1;      ///< of a step, `other_w` included, against the largest cap
  bool verified = false;  ///< measured at this cap and found within the limit
  int steps_spent = 0;
  std::vector<CapMeasurement> measured;
  std::string reason;  ///< one sentence for the user
};

/// Wrong use with fewer than three caps between 45 % of the largest and the largest; else what `measure` failed with.
[[nodiscard]] core::Result<CapChoice> choose_cap(const CapQuestion& question, const MeasureCap& measure);

}  // namespace gradwatt::planning
