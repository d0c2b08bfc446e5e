// What training minimises.
#pragma once

#include <torch/types.h>

#include <span>

#include "gradwatt/training/models/model.hpp"

namespace gradwatt::training {

/// Mean over the batch of the cross entropy between softmax(logits) and the labels (int64, batch). Smoothing s in [0,
/// 1): the target is 1 − s for the label plus s / classes for every class. Computed in at least single precision.
[[nodiscard]] torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels,
                                          double label_smoothing = 0);

/// Mean over the batch of ‖prediction − target‖ / ‖target‖, norms over all channels and pixels of a sample. Computed in
/// at least single precision. A target of zeros gives infinity, or NaN if the prediction is zero too.
[[nodiscard]] torch::Tensor relative_l2(const torch::Tensor& prediction, const torch::Tensor& target);

/// The model's own forecast is its next input; the sum of relative_l2 of each step to its target. Gradients flow
/// through all steps.
[[nodiscard]] torch::Tensor roll_out_loss(Model& model, torch::Tensor input, std::span<const torch::Tensor> targets);

}  // namespace gradwatt::training
