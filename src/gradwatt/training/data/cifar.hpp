// CIFAR-10's binary files: records of one label byte and 3 × 32 × 32 pixel bytes.
#pragma once

#include <cstdint>
#include <filesystem>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/data/labelled_images.hpp"

namespace gradwatt::training {

inline constexpr std::int64_t kCifarClasses = 10;

/// data_batch_1.bin to data_batch_5.bin, or test_batch.bin. Errors: not_found, io, unusable_input (a size that is no
/// whole number of records, a label above 9); the message names the file.
[[nodiscard]] core::Result<LabelledImages> read_cifar(const std::filesystem::path& folder, bool train);

}  // namespace gradwatt::training
