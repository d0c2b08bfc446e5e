#include "gradwatt/training/models/loss.hpp"

#include <ATen/ATen.h>

namespace gradwatt::training {
namespace {

torch::Tensor at_least_single(const torch::Tensor& tensor) {
  return tensor.scalar_type() == at::kDouble ? tensor : tensor.to(at::kFloat);
}

}  // namespace

torch::Tensor cross_entropy(const torch::Tensor& logits, const torch::Tensor& labels, double label_smoothing) {
  constexpr std::int64_t kIgnoredLabel = -100;  // PyTorch's; no data set has it
  return at::cross_entropy_loss(at_least_single(logits), labels, /*weight=*/{}, at::Reduction::Mean, kIgnoredLabel,
                                label_smoothing);
}

torch::Tensor relative_l2(const torch::Tensor& prediction, const torch::Tensor& target) {
  const auto y = at_least_single(target);
  const auto error = at_least_single(prediction).sub(y);
  return error.flatten(1).norm(2, 1).div(y.flatten(1).norm(2, 1)).mean();
}

torch::Tensor roll_out_loss(Model& model, torch::Tensor input, std::span<const torch::Tensor> targets) {
  torch::Tensor sum;
  for (const auto& target : targets) {
    input = model.forward(input);
    const auto loss = relative_l2(input, target);
    sum = sum.defined() ? sum.add(loss) : loss;
  }
  return sum;
}

}  // namespace gradwatt::training
