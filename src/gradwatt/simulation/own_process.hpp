// SimGrid holds one simulation a process and ends the process when something is wrong: each simulation has a child of
// its own, which hands its figures back. Private to this folder.
#pragma once

#include <functional>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::simulation {

/// Runs `work` in a forked child and returns its numbers. Errors: not_supported with what it threw or how it ended, io.
/// The caller has no other threads.
[[nodiscard]] core::Result<std::vector<double>> in_own_process(const std::function<std::vector<double>()>& work);

}  // namespace gradwatt::simulation
