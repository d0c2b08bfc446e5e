#include "gradwatt/training/gradient_sync/flat_tensors.hpp"

#include <ATen/ATen.h>

namespace gradwatt::training {

FlatTensors::FlatTensors(const NamedTensors& named, at::Device device) {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : named) {
    tensors_.push_back(tensor);
    count += tensor.numel();
  }
  flat_ = at::zeros({count}, at::TensorOptions(tensors_.front().scalar_type()).device(device));
}

template <class Visit>
void FlatTensors::each(const torch::Tensor& flat, Visit visit) const {
  const torch::NoGradGuard no_grad;
  std::int64_t at = 0;
  for (auto tensor : tensors_) {
    visit(tensor, flat.narrow(0, at, tensor.numel()).view(tensor.sizes()));
    at += tensor.numel();
  }
}

torch::Tensor& FlatTensors::take_gradients() {
  each(flat_, [](const torch::Tensor& tensor, const torch::Tensor& place) {
    TORCH_CHECK(tensor.grad().defined(), "a parameter got no gradient in this step");
    place.copy_(tensor.grad());
  });
  return flat_;
}

torch::Tensor& FlatTensors::take_values() {
  each(flat_, [](const torch::Tensor& tensor, const torch::Tensor& place) { place.copy_(tensor); });
  return flat_;
}

void FlatTensors::give_gradients() const {
  each(flat_, [](torch::Tensor& tensor, const torch::Tensor& place) { tensor.mutable_grad().copy_(place); });
}

void FlatTensors::give_values() const { give_values(flat_); }

void FlatTensors::give_values(const torch::Tensor& flat) const {
  each(flat, [](torch::Tensor& tensor, const torch::Tensor& place) { tensor.copy_(place); });
}

}  // namespace gradwatt::training
