// NumPy's file format, as far as arrays of numbers need it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::training {

struct NpyArray {
  std::vector<std::size_t> shape;
  std::vector<double> values;  ///< the last dimension fastest
};

/// Little-endian float32 or float64 in C order. Errors: not_found, io, unusable_input (another format or type, cut
/// off).
[[nodiscard]] core::Result<NpyArray> read_npy(const std::filesystem::path& path);

}  // namespace gradwatt::training
