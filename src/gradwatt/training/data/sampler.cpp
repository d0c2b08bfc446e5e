#include "gradwatt/training/data/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "gradwatt/training/data/example_random.hpp"

namespace gradwatt::training {

core::Result<DistributedSampler> DistributedSampler::make(const SamplerSettings& settings) {
  const auto& s = settings;
  if (s.ranks < 1 || s.rank < 0 || s.rank >= s.ranks) {
    return core::fail(core::Errc::wrong_use, fmt::format("rank {} is not one of {} ranks", s.rank, s.ranks));
  }
  if (s.local_batch == 0) return core::fail(core::Errc::wrong_use, "the local batch must hold at least one example");
  const auto ranks = static_cast<std::size_t>(s.ranks);
  const auto used = s.samples_per_rank ? *s.samples_per_rank * ranks : s.size;
  if (used > s.size) {
    return core::fail(core::Errc::wrong_use,
                      fmt::format("{} examples for each of {} ranks are {}, but the data set has only {}: use fewer",
                                  *s.samples_per_rank, ranks, used, s.size));
  }
  const auto least = s.remainder == Remainder::drop ? s.local_batch * ranks : std::size_t{1};
  if (used < least) {
    return core::fail(core::Errc::wrong_use,
                      fmt::format("{} examples do not fill one global batch of {} ({} on each of {} ranks): use a "
                                  "smaller batch or fewer ranks",
                                  used, least, s.local_batch, ranks));
  }
  return DistributedSampler(settings, used);
}

std::size_t DistributedSampler::global_batch() const {
  return settings_.local_batch * static_cast<std::size_t>(settings_.ranks);
}

std::size_t DistributedSampler::batches_per_epoch() const {
  const auto whole = used_ / global_batch();
  return settings_.remainder == Remainder::spread && used_ % global_batch() != 0 ? whole + 1 : whole;
}

std::vector<std::size_t> DistributedSampler::order(std::uint64_t epoch) const {
  std::vector<std::size_t> order(used_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!settings_.shuffle) return order;
  // The last word keeps the order's stream apart from those of the examples.
  auto random = example_random(settings_.seed, epoch, ~std::uint64_t{0});
  for (std::size_t i = used_; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

core::Result<EpochPlan> DistributedSampler::plan(std::uint64_t epoch, std::uint64_t position) const {
  if (position > used_) {
    return core::fail(core::Errc::wrong_use,
                      fmt::format("cannot resume at example {} of an epoch of {}: the checkpoint belongs to another "
                                  "data set",
                                  position, used_));
  }
  const auto all = order(epoch);
  const auto ranks = static_cast<std::size_t>(settings_.ranks), rank = static_cast<std::size_t>(settings_.rank);
  EpochPlan plan;
  for (std::size_t at = position; at < used_;) {
    const auto count = std::min(global_batch(), used_ - at);
    if (count < global_batch() && settings_.remainder == Remainder::drop) break;
    const auto first = at + rank * count / ranks, last = at + (rank + 1) * count / ranks;
    const auto begin = plan.indices.size();
    plan.indices.insert(plan.indices.end(), all.begin() + static_cast<std::ptrdiff_t>(first),
                        all.begin() + static_cast<std::ptrdiff_t>(last));
    at += count;
    if (last > first) plan.batches.push_back({begin, plan.indices.size(), at});
  }
  return plan;
}

}  // namespace gradwatt::training
