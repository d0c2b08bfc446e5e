// Finds the verb, runs it and turns its result into the exit status: the only place that knows both.
#pragma once

#include "context.hpp"
#include "gradwatt/core/result.hpp"
#include "options.hpp"

namespace gradwatt::app {

/// `arguments` without the program's name.
[[nodiscard]] int run_app(Context& context, Arguments arguments);

/// 2 wrong use, 3 unusable input, 4 not permitted or not possible here: fixed for scripts.
[[nodiscard]] int exit_status_of(core::Errc code);

}  // namespace gradwatt::app
