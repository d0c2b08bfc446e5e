#include "gradwatt/training/gradient_sync/reducer_sync.hpp"

#include <torch/version.h>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "gradwatt/training/gradient_sync/rank_group.hpp"

namespace gradwatt::training {
namespace {

class AverageHook final : public c10d::CommHookInterface {
 public:
  explicit AverageHook(Averager& averager) : averager_(averager) {}
  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    return averager_.average(bucket.getBuffer());
  }
  at::Tensor parseHookResult(const c10::IValue& result) override { return result.toTensor(); }

 private:
  Averager& averager_;
};

std::vector<at::Tensor> tensors_of(const NamedTensors& named) {
  std::vector<at::Tensor> tensors;
  for (const auto& [name, tensor] : named) tensors.push_back(tensor);
  return tensors;
}

/// The constructor's arguments changed between versions of LibTorch.
std::unique_ptr<c10d::Reducer> make_reducer(Communicator& ranks, const NamedTensors& parameters,
                                            const SyncOptions& options) {
  auto buckets = buckets_of(parameters, options.first_bucket_bytes, options.bucket_bytes);
  std::unordered_map<std::size_t, std::string> names;
  for (std::size_t i = 0; i < parameters.size(); ++i) names[i] = parameters[i].first;
  const auto cap = static_cast<std::int64_t>(options.bucket_bytes);
  const auto first_cap = static_cast<std::int64_t>(options.first_bucket_bytes);
  constexpr bool kFindUnused = false;
  constexpr bool kGradientAsBucketView = true;
#if TORCH_VERSION_MAJOR < 2
  std::vector<std::size_t> limits(buckets.size(), options.bucket_bytes);
  if (!limits.empty()) limits.front() = options.first_bucket_bytes;
  return std::make_unique<c10d::Reducer>(tensors_of(parameters), std::move(buckets), std::move(limits),
                                         make_rank_group(ranks), std::vector<bool>(parameters.size(), false), cap,
                                         kFindUnused, kGradientAsBucketView, std::move(names), first_cap);
#else
  return std::make_unique<c10d::Reducer>(tensors_of(parameters), std::move(buckets), make_rank_group(ranks),
                                         std::vector<bool>(parameters.size(), false), cap, kFindUnused,
                                         kGradientAsBucketView, std::move(names), first_cap, false, false);
#endif
}

}  // namespace

ReducerSync::ReducerSync(Communicator& ranks, std::unique_ptr<Averager> averager, const NamedTensors& parameters,
                         const SyncOptions& options)
    : averager_(std::move(averager)), reducer_(make_reducer(ranks, parameters, options)) {
  reducer_->register_comm_hook(std::make_unique<AverageHook>(*averager_));
}

ReducerSync::~ReducerSync() = default;

void ReducerSync::begin_step() {
  // Also where the Reducer notices that the last step left a parameter without a gradient.
  reducer_->rebuild_buckets();
}

void ReducerSync::before_backward(const torch::Tensor& output) {
  busy_before_ = averager_->busy();
  reducer_->prepare_for_backward({output});
}

void ReducerSync::finish() {
  // The backward pass returned when all buckets were averaged; from the last one given on, nothing else was left to do.
  last_.exposed =
      std::max(core::Duration(0), core::Duration(std::chrono::steady_clock::now() - averager_->last_given()));
  last_.busy = averager_->busy() - busy_before_;
}

GradientSync::Costs ReducerSync::costs() const {
  auto costs = last_;
  costs.bytes = averager_->bytes();
  costs.messages = averager_->messages();
  return costs;
}

}  // namespace gradwatt::training
