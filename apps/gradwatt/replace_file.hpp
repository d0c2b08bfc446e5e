// Small files that others read while they are written anew: a reader sees the old text or the new one, never a part.
#pragma once

#include <filesystem>
#include <string_view>

#include "gradwatt/core/result.hpp"

namespace gradwatt::app {

/// Writes `text` beside `file` and renames it into place. Errors: not_permitted, io; the old file then stands.
[[nodiscard]] core::Result<void> replace_file(const std::filesystem::path& file, std::string_view text);

}  // namespace gradwatt::app
