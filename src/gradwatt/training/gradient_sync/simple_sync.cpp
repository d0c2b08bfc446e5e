#include "gradwatt/training/gradient_sync/simple_sync.hpp"

namespace gradwatt::training {

SimpleSync::SimpleSync(std::unique_ptr<Averager> averager, NamedTensors parameters, const SyncOptions& options)
    : averager_(std::move(averager)) {
  for (const auto& bucket : buckets_of(parameters, options.first_bucket_bytes, options.bucket_bytes)) {
    NamedTensors members;
    for (const auto i : bucket) members.push_back(parameters[i]);
    buckets_.emplace_back(members, members.front().second.device());
  }
}

void SimpleSync::finish() {
  const auto begin = std::chrono::steady_clock::now();
  for (auto& bucket : buckets_) {
    averager_->average_now(bucket.take_gradients());
    bucket.give_gradients();
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
