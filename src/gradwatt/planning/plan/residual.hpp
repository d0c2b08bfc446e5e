// What a run turned out to take beside what the model said, term by term.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/planning/fit_runs.hpp"

namespace gradwatt::planning {

struct Residual {
  std::string_view term, unit;  ///< "step", "s"
  Figure predicted;
  double measured = 0;

  [[nodiscard]] double ratio() const { return measured / predicted.value; }
  [[nodiscard]] bool inside() const { return measured >= predicted.low90 && measured <= predicted.high90; }
};

/// Step time, exposed communication, power of a GPU and of a node: those that the run measured and the model knows.
/// Unusable input when the model cannot say this setting at all: why.
[[nodiscard]] core::Result<std::vector<Residual>> residuals_of(const JobModel& job, const ProfileRow& measured);

}  // namespace gradwatt::planning
