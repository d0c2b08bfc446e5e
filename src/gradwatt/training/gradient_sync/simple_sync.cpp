#include "gradwatt/training/gradient_sync/simple_sync.hpp"

#include <ATen/ATen.h>

namespace gradwatt::training {

SimpleSync::SimpleSync(std::unique_ptr<Averager> averager, NamedTensors parameters, const SyncOptions& options)
    : averager_(std::move(averager)),
      parameters_(std::move(parameters)),
      buckets_(buckets_of(parameters_, options.first_bucket_bytes, options.bucket_bytes)) {
  for (const auto& bucket : buckets_) {
    std::int64_t count = 0;
    for (const auto i : bucket) count += parameters_[i].second.numel();
    flat_.push_back(at::empty({count}, parameters_[bucket.front()].second.options().requires_grad(false)));
  }
}

void SimpleSync::finish() {
  const torch::NoGradGuard no_grad;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const auto each = [&](auto visit) {
      std::int64_t at = 0;
      for (const auto i : buckets_[b]) {
        auto& parameter = parameters_[i].second;
        visit(parameter, flat_[b].narrow(0, at, parameter.numel()).view(parameter.sizes()));
        at += parameter.numel();
      }
    };
    each([](torch::Tensor& parameter, torch::Tensor place) {
      TORCH_CHECK(parameter.grad().defined(), "a parameter got no gradient in this step");
      place.copy_(parameter.grad());
    });
    averager_->average_now(flat_[b]);
    each([](torch::Tensor& parameter, const torch::Tensor& place) { parameter.mutable_grad().copy_(place); });
  }
  last_.exposed = last_.busy = std::chrono::steady_clock::now() - begin;
}

GradientSync::Costs SimpleSync::costs() const {
  auto costs = last_;
  costs.bytes = averager_->bytes();
  costs.messages = averager_->messages();
  return costs;
}

}  // namespace gradwatt::training
