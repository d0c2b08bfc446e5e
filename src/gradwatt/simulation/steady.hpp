// When further steps would say nothing new, and what they are then. Pure; private to this folder.
#pragma once

#include <vector>

#include "gradwatt/simulation/simulate.hpp"

namespace gradwatt::simulation {

/// Two cycles that differ by less are equal.
inline constexpr double kAgreement = 1e-3;

/// Steps that every node has ended and the length of each cycle of them: from the last node's end to the last node's
/// end.
class SteadyWatch {
 public:
  SteadyWatch(int nodes, int steps_a_cycle) : nodes_(nodes), steps_a_cycle_(steps_a_cycle) {}
  void step_ended(int step, double end_s);
  /// The last two complete cycles agree.
  [[nodiscard]] bool steady() const;

 private:
  int nodes_, steps_a_cycle_;
  struct Step {
    int ended = 0;
    double last_end_s = 0;
  };
  std::vector<Step> steps_;
};

/// Appends copies of the last cycle until `outcome` has `steps` steps.
void repeat_last_cycle(Outcome& outcome, int steps, int steps_a_cycle);

}  // namespace gradwatt::simulation
