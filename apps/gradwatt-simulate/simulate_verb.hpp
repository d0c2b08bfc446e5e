// What `gradwatt simulate` does: cluster file and run in, simulation, run record and report out.
#pragma once

#include "context.hpp"
#include "gradwatt/core/result.hpp"
#include "options.hpp"

namespace gradwatt::app {

/// Exit status; an error is the caller's to print.
[[nodiscard]] core::Result<int> simulate_verb(Context& context, Arguments arguments);

}  // namespace gradwatt::app
