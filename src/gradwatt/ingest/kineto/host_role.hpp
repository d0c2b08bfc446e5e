// Which host events of a trace some fact needs, told by name.
#pragma once

#include <string_view>

#include "gradwatt/ingest/kineto/trace.hpp"

namespace gradwatt::ingest::kineto {

/// Of a call into the CUDA or HIP runtime or driver.
[[nodiscard]] HostRole role_of_call(std::string_view name);
/// Of an operator or a named range.
[[nodiscard]] HostRole role_of_operator(std::string_view name);

}  // namespace gradwatt::ingest::kineto
