#include "gradwatt/training/strategies/stale_shard.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace gradwatt::training {

StaleShard::StaleShard(NamedTensors own, std::unique_ptr<Optimizer> optimizer, int workers, std::int64_t staleness)
    : flat_(own),
      optimizer_(std::move(optimizer)),
      waiting_(static_cast<std::size_t>(workers)),
      staleness_(staleness) {}

core::Result<StaleShard> StaleShard::create(const NamedTensors& parameters, const OptimizerSpec& rule, int workers,
                                            std::int64_t staleness) {
  NamedTensors own;
  for (const auto& [name, parameter] : parameters) {
    auto copy = parameter.detach().to(at::kCPU, parameter.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
    copy.set_requires_grad(true);
    copy.mutable_grad() = at::zeros_like(copy);
    own.emplace_back(name, copy);
  }
  auto optimizer = make_optimizer(rule, own);
  if (!optimizer) return core::fail(optimizer.error());
  return StaleShard(std::move(own), std::move(*optimizer), workers, staleness);
}

void StaleShard::push(int worker, Push push) {
  waiting_[static_cast<std::size_t>(worker)].push_back(std::move(push));
  while (std::ranges::none_of(waiting_, [](const auto& queue) { return queue.empty(); })) apply_next();
}

void StaleShard::apply_next() {
  const torch::NoGradGuard no_grad;
  const auto sound = std::ranges::all_of(waiting_, [](const auto& queue) { return queue.front().sound; });
  const double rate = waiting_.front().front().rate;
  auto& mean = flat_.flat();
  mean.zero_();
  for (auto& queue : waiting_) {
    if (sound) mean.add_(queue.front().gradient);
    queue.pop_front();
  }
  if (sound) {
    mean.mul_(1.0 / static_cast<double>(waiting_.size()));
    flat_.give_gradients();
    optimizer_->step(rate);
  } else {
    ++left_out_;
  }
  ++version_;
}

}  // namespace gradwatt::training
