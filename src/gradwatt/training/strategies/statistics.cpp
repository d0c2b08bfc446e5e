#include "gradwatt/training/strategies/statistics.hpp"

#include <ATen/ATen.h>

namespace gradwatt::training {

void average_statistics(Communicator& ranks, const NamedTensors& statistics) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, tensor] : statistics) {
    if (!tensor.is_floating_point()) continue;
    auto sum = tensor.to(at::kCPU, at::kDouble, /*non_blocking=*/false, /*copy=*/true).contiguous();
    ranks.all_reduce(std::span(sum.data_ptr<double>(), static_cast<std::size_t>(sum.numel())), Sum::sum);
    at::Tensor(tensor).copy_(sum / ranks.size());
  }
}

}  // namespace gradwatt::training
