// Programs that lie beside this one: what needs more libraries than the core program has.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::app {

/// Its path. Errors: not_supported with what it needs to be built: "LibTorch and MPI are".
[[nodiscard]] core::Result<std::string> find_beside(const std::string& program, const std::string& built_where);

/// This process becomes that command. Only when it fails does it come back.
core::Result<int> become(const std::vector<std::string>& words);

}  // namespace gradwatt::app
