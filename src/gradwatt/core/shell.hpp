// Text that a POSIX shell reads back as what was meant.
#pragma once

#include <string>
#include <string_view>

namespace gradwatt::core {

/// One word as a shell has to read it: quoted only where needed, an empty one too.
[[nodiscard]] std::string shell_quote(std::string_view word);

}  // namespace gradwatt::core
