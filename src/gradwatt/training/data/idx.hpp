// IDX files, the format of MNIST and its kin, plain or compressed with gzip.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/data/labelled_images.hpp"

namespace gradwatt::training {

/// Bytes with as many dimensions as the file says, the last one fastest.
struct IdxArray {
  std::vector<std::size_t> dimensions;
  std::vector<std::uint8_t> bytes;
};

/// Errors: not_found, io, unusable_input (wrong magic, other element type, truncated or damaged).
[[nodiscard]] core::Result<IdxArray> read_idx(const std::filesystem::path& path);

/// `<folder>/<prefix>-images-idx3-ubyte[.gz]` and its labels; prefix is "train" or "t10k". Errors as read_idx, and
/// unusable_input when images and labels do not belong together.
[[nodiscard]] core::Result<LabelledImages> read_idx_images(const std::filesystem::path& folder,
                                                           const std::string& prefix);

}  // namespace gradwatt::training
