// A model's parameters and buffers to and from a safetensors file, under PyTorch's names.
#pragma once

#include <filesystem>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/models/model.hpp"
#include "gradwatt/training/models/safetensors.hpp"

namespace gradwatt::training {

/// Parameters, then buffers. The tensors are the model's own, not copies.
[[nodiscard]] NamedTensors state_of(const Model& model);

[[nodiscard]] core::Result<void> save_weights(const Model& model, const std::filesystem::path& path,
                                              const Metadata& metadata = {});
/// Values are converted to the model's type and device. Errors: those of load_safetensors(); unusable_input listing
/// tensors that are missing, unexpected or of another shape, in which case the model is unchanged.
[[nodiscard]] core::Result<void> load_weights(Model& model, const std::filesystem::path& path);

}  // namespace gradwatt::training
