// The three things `gradwatt run` can measure. Each returns the exit status of the program; what failed in measuring is
// said on `context.err` and never changes it.
#pragma once

#include "context.hpp"
#include "gradwatt/core/result.hpp"
#include "measure/run_request.hpp"

namespace gradwatt::app {

/// Starts the command and returns its exit status. Errors (wrong_use) only before it was started.
[[nodiscard]] core::Result<int> measure_command(Context& context, const RunRequest& request);

/// A process tree or host that runs already: 0 when measured. Errors: not_found, not_permitted, wrong_use.
[[nodiscard]] core::Result<int> measure_running(Context& context, const RunRequest& request);

}  // namespace gradwatt::app
