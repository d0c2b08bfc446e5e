#include "gradwatt/training/optimisation/gradients.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "gradwatt/training/optimisation/elementwise.hpp"

namespace gradwatt::training {
namespace {

template <class T>
double square_sum(const torch::Tensor& tensor) {
  const T* data = tensor.data_ptr<T>();
  return at::parallel_reduce(
      0, tensor.numel(), kGrain, 0.0,
      [&](std::int64_t begin, std::int64_t end, double sum) {
        for (std::int64_t i = begin; i < end; ++i) sum += static_cast<double>(data[i]) * static_cast<double>(data[i]);
        return sum;
      },
      [](double a, double b) { return a + b; });
}

}  // namespace

double gradient_norm(const NamedTensors& parameters) {
  double sum = 0;
  std::vector<torch::Tensor> elsewhere;  // summed on their device, brought over together
  for (const auto& [name, parameter] : parameters) {
    const auto& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (!walk_alike(gradient))
      elsewhere.push_back(gradient.to(at::kDouble).square().sum());
    else
      sum += gradient.scalar_type() == at::kDouble ? square_sum<double>(gradient) : square_sum<float>(gradient);
  }
  if (!elsewhere.empty()) sum += at::stack(elsewhere).sum().item<double>();
  return std::sqrt(sum);
}

void scale_gradients(const NamedTensors& parameters, double factor) {
  const torch::NoGradGuard no_grad;
  if (factor == 1) return;
  for (const auto& [name, parameter] : parameters)
    if (parameter.grad().defined()) parameter.mutable_grad().mul_(factor);
}

double clip_factor(double norm, double limit) { return std::min(1.0, limit / (norm + 1e-6)); }

}  // namespace gradwatt::training
