#include "gradwatt/training/models/batch_norm.hpp"

#include <ATen/ATen.h>

namespace gradwatt::training {

BatchNorm::BatchNorm(std::int64_t channels) {
  weight = register_parameter("weight", at::empty({channels}));
  bias = register_parameter("bias", at::empty({channels}));
  running_mean = register_buffer("running_mean", at::zeros({channels}));
  running_var = register_buffer("running_var", at::ones({channels}));
  num_batches_tracked = register_buffer("num_batches_tracked", at::zeros({}, at::kLong));
}

torch::Tensor BatchNorm::forward(const torch::Tensor& input) {
  BatchNormState state{weight, bias, running_mean, running_var};
  if (is_training()) num_batches_tracked.add_(1);
  if (is_training() && function_) return function_(input, state);
  return at::batch_norm(input, weight, bias, running_mean, running_var, is_training(), state.momentum, state.epsilon,
                        /*cudnn_enabled=*/true);
}

std::size_t compute_batch_norms_by(torch::nn::Module& model, const BatchNormFunction& function) {
  std::size_t count = 0;
  for (const auto& module : model.modules()) {
    auto* norm = module->as<BatchNorm>();
    if (norm == nullptr) continue;
    norm->compute_by(function);
    ++count;
  }
  return count;
}

}  // namespace gradwatt::training
