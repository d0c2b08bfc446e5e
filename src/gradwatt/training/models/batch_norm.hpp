// Batch normalisation whose computation in training can be replaced: with several ranks the statistics may be wanted
// over the batch of all of them.
#pragma once

#include <torch/nn/module.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>

namespace gradwatt::training {

/// What one batch norm keeps, handed to whoever computes it. Tensors are shared, not copied.
struct BatchNormState {
  torch::Tensor weight, bias;
  torch::Tensor running_mean, running_var;  ///< to be updated: (1 − momentum) · old + momentum · new, unbiased variance
  double momentum = 0.1, epsilon = 1e-5;  ///< PyTorch's
};

/// Normalises `input` (batch × channels × …) by statistics of the batch and updates the running ones.
using BatchNormFunction = std::function<torch::Tensor(const torch::Tensor& input, const BatchNormState& state)>;

class BatchNorm : public torch::nn::Module {
 public:
  explicit BatchNorm(std::int64_t channels);
  /// While training: by the batch. In evaluation: by the running statistics, never by `function`.
  torch::Tensor forward(const torch::Tensor& input);
  void compute_by(BatchNormFunction function) { function_ = std::move(function); }

  torch::Tensor weight, bias;
  torch::Tensor running_mean, running_var, num_batches_tracked;

 private:
  BatchNormFunction function_;  ///< empty: the local batch
};

/// Hands `function` to every batch norm of `model`; an empty one restores the local batch. Returns how many there are.
std::size_t compute_batch_norms_by(torch::nn::Module& model, const BatchNormFunction& function);

}  // namespace gradwatt::training
