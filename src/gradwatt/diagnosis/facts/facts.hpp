// Facts of a measured run: figures over its steady part, with coverage and origin. What the run's own facts already say
// (agent, sensors, imported files) stays; a figure that cannot be had is absent.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/diagnosis/fact_sheet.hpp"
#include "gradwatt/energy/window.hpp"
#include "gradwatt/record/store.hpp"

namespace gradwatt::diagnosis {

/// Where the job worked evenly, and what was left out.
struct SteadyPart {
  energy::Window window;
  std::string why;  ///< one clause: "steps 12 to 480 of 500: before that they took longer"
};
/// From the steps where the job told them, else from the level of power or CPU use. Nothing for an empty run.
[[nodiscard]] std::optional<SteadyPart> steady_part(const record::Run& run);

/// All that a diagnosis can know of a run.
[[nodiscard]] FactSheet facts_of(const record::Run& run);

/// The columns that facts_of() reads.
[[nodiscard]] record::LoadOptions columns_for_facts();

}  // namespace gradwatt::diagnosis
