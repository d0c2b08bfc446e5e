// Named tensors in a file that Python, Rust and others read too (layout: safetensors_header.hpp).
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/named_tensors.hpp"

namespace gradwatt::training {

using Metadata = std::map<std::string, std::string>;

/// Replaces `path` atomically and durably. Tensors may live anywhere and have any strides; they are stored row by row.
/// Types: fp64, fp32, fp16, bf16, int64, int32, uint8, bool. Errors: wrong_use (another type, a name twice), io, …
[[nodiscard]] core::Result<void> save_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                                                  const Metadata& metadata = {});

struct LoadedTensors {
  NamedTensors tensors;  ///< on the CPU, contiguous, in the order of the file
  Metadata metadata;
};
/// Errors: not_found, not_permitted, io; unusable_input with the file and what is wrong with it. A hostile header costs
/// no more memory than the file is long.
[[nodiscard]] core::Result<LoadedTensors> load_safetensors(const std::filesystem::path& path);

}  // namespace gradwatt::training
