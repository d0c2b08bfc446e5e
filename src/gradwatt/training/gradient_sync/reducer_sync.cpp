#include "gradwatt/training/gradient_sync/reducer_sync.hpp"

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include <type_traits>

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

/// The constructor's arguments changed between versions of LibTorch; the compiler finds out which there are. A
/// template, so that the calls of other versions are not compiled.
template <class Reducer>
std::unique_ptr<Reducer> construct(Communicator& ranks, const NamedTensors& parameters, const SyncOptions& options) {
  using Tensors = std::vector<at::Tensor>;
  using Buckets = std::vector<std::vector<std::size_t>>;
  using Limits = std::vector<std::size_t>;
  using Group = c10::intrusive_ptr<c10d::ProcessGroup>;
  using Flags = std::vector<bool>;
  using Names = std::unordered_map<std::size_t, std::string>;
  using Whole = std::int64_t;
  constexpr bool kFindUnused = false, kGradientAsBucketView = true;
  Buckets buckets = buckets_of(parameters, options.first_bucket_bytes, options.bucket_bytes);
  Names names;
  for (std::size_t i = 0; i < parameters.size(); ++i) names[i] = parameters[i].first;
  const auto cap = static_cast<Whole>(options.bucket_bytes);
  const auto first_cap = static_cast<Whole>(options.first_bucket_bytes);
  const Flags sparse(parameters.size(), false);
  const auto tensors = tensors_of(parameters);
  const auto group = make_rank_group(ranks);
  if constexpr (std::is_constructible_v<Reducer, Tensors, Buckets, Limits, Group, Flags, Whole, bool, bool, Names,
                                        Whole>) {
    Limits limits(buckets.size(), options.bucket_bytes);  // 1.13
    if (!limits.empty()) limits.front() = options.first_bucket_bytes;
    return std::make_unique<Reducer>(tensors, buckets, limits, group, sparse, cap, kFindUnused, kGradientAsBucketView,
                                     names, first_cap);
  } else if constexpr (std::is_constructible_v<Reducer, Tensors, Buckets, Group, Flags, Whole, bool, bool, Names,
                                               Whole>) {
    return std::make_unique<Reducer>(tensors, buckets, group, sparse, cap, kFindUnused, kGradientAsBucketView, names,
                                     first_cap);
  } else if constexpr (std::is_constructible_v<Reducer, Tensors, Buckets, Group, Flags, Whole, bool, bool, Names, Whole,
                                               bool, bool>) {
    return std::make_unique<Reducer>(tensors, buckets, group, sparse, cap, kFindUnused, kGradientAsBucketView, names,
                                     first_cap, false, false);
  } else {  // 2.15: a cap a bucket
    return std::make_unique<Reducer>(tensors, buckets, group, sparse, cap, kFindUnused, kGradientAsBucketView, names,
                                     first_cap, false, false, std::vector<Whole>{first_cap, cap});
  }
}

}  // namespace

ReducerSync::ReducerSync(Communicator& ranks, std::unique_ptr<Averager> averager, const NamedTensors& parameters,
                         const SyncOptions& options)
    : averager_(std::move(averager)), reducer_(construct<c10d::Reducer>(ranks, parameters, options)) {
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
