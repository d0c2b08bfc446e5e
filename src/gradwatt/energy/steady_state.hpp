// Where a job worked evenly: start-up, a changed load and the drain at the end are told apart from it by change points.
#pragma once

#include <optional>
#include <string>

#include "gradwatt/energy/window.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::energy {

struct SteadyPart {
  Window window;
  std::string why;  ///< what it is of the run: "steps 12 to 480 of 500"
};
/// From the steps where the job told them, else from the level of power or CPU use, else the whole run. Nothing for an
/// empty run.
[[nodiscard]] std::optional<SteadyPart> steady_part(const record::Run& run);

}  // namespace gradwatt::energy
