// Facts of a measured run: figures over its steady part, with coverage and origin. What the run's own facts already say
// (agent, sensors, imported files) stays; a figure that cannot be had is absent.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/diagnosis/fact_sheet.hpp"
#include "gradwatt/energy/window.hpp"
#include "gradwatt/record/store.hpp"

namespace gradwatt::diagnosis {

/// All that a diagnosis can know of a run.
[[nodiscard]] FactSheet facts_of(const record::Run& run);

/// The columns that facts_of() reads.
[[nodiscard]] record::LoadOptions columns_for_facts();

}  // namespace gradwatt::diagnosis
