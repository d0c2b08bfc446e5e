#include "gradwatt/training/gradient_sync/rank_group.hpp"

#include <torch/version.h>

#include <utility>

#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#endif

namespace gradwatt::training {
namespace {

/// Done when it is made.
class DoneWork final : public c10d::Work {
 public:
  explicit DoneWork(std::vector<at::Tensor> tensors) : tensors_(std::move(tensors)) {}
  bool isCompleted() override { return true; }
  bool isSuccess() const override { return true; }
  bool wait(std::chrono::milliseconds /*timeout*/) override { return true; }
  std::vector<at::Tensor> result() override { return tensors_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    future->markCompleted(c10::IValue(tensors_));
    return future;
  }

 private:
  std::vector<at::Tensor> tensors_;
};

#if TORCH_VERSION_MAJOR >= 2
using GroupBase = c10d::Backend;
#else
using GroupBase = c10d::ProcessGroup;
#endif

class RankGroup final : public GroupBase {
 public:
  explicit RankGroup(Communicator& ranks) : GroupBase(ranks.rank(), ranks.size()), ranks_(ranks) {}
  const std::string getBackendName() const override { return "gradwatt"; }

  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override {
    for (auto& tensor : tensors) {
      auto here = tensor.to(at::kCPU).contiguous();
      ranks_.broadcast({static_cast<std::byte*>(here.data_ptr()), here.nbytes()}, static_cast<int>(options.rootRank));
      if (!here.is_same(tensor)) tensor.copy_(here);
    }
    return c10::make_intrusive<DoneWork>(tensors);
  }

  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors,
                                           const c10d::AllreduceOptions& options) override {
    // Only the map of used parameters comes this way: few integers.
    TORCH_CHECK(options.reduceOp == c10d::ReduceOp::SUM, "only sums are implemented here");
    for (auto& tensor : tensors) {
      auto here = tensor.to(at::kCPU, at::kLong).contiguous();
      ranks_.all_reduce(std::span(here.data_ptr<std::int64_t>(), static_cast<std::size_t>(here.numel())), Sum::sum);
      tensor.copy_(here);
    }
    return c10::make_intrusive<DoneWork>(tensors);
  }

 private:
  Communicator& ranks_;
};

}  // namespace

c10::intrusive_ptr<c10d::ProcessGroup> make_rank_group(Communicator& ranks) {
  auto group = c10::make_intrusive<RankGroup>(ranks);
#if TORCH_VERSION_MAJOR >= 2
  auto front = c10::make_intrusive<c10d::ProcessGroup>(ranks.rank(), ranks.size());
  for (const auto device : {c10::DeviceType::CPU, c10::DeviceType::CUDA})
    front->setBackend(device, c10d::ProcessGroup::BackendType::CUSTOM, group);
  return front;
#else
  return group;
#endif
}

}  // namespace gradwatt::training
