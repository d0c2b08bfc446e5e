// A whole file into memory that is used again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::training {

/// Errors: not_found, not_permitted, io; the message names the path.
[[nodiscard]] core::Result<void> read_file(const std::filesystem::path& path, std::vector<std::uint8_t>& content);

}  // namespace gradwatt::training
