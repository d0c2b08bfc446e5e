#include "gradwatt/training/gradient_sync/nccl_sum.hpp"

#include <ATen/ATen.h>
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <fmt/format.h>
#include <nccl.h>

#include <span>

namespace gradwatt::training {
namespace {

using Future = c10::ivalue::Future;

ncclDataType_t type_of(const torch::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return ncclFloat;
    case at::kDouble:
      return ncclDouble;
    case at::kBFloat16:
      return ncclBfloat16;
    case at::kHalf:
      return ncclHalf;
    default:
      TORCH_CHECK(false, "gradients of type ", tensor.scalar_type(), " cannot be averaged");
  }
}

}  // namespace

struct NcclSum::State {
  explicit State(int size, c10::Device device)
      : ranks(size), stream(c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device.index())) {}
  ~State() {
    if (group != nullptr) ncclCommDestroy(group);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void sum(const torch::Tensor& values, ncclRedOp_t how) const {
    const auto count = static_cast<std::size_t>(values.numel());
    const auto result =
        ncclAllReduce(values.data_ptr(), values.data_ptr(), count, type_of(values), how, group, stream.stream());
    TORCH_CHECK(result == ncclSuccess, "NCCL could not add the gradients up: ", ncclGetErrorString(result));
  }

  int ranks;
  c10::cuda::CUDAStream stream;
  ncclComm_t group = nullptr;
};

NcclSum::NcclSum(std::unique_ptr<State> state) : state_(std::move(state)) {}
NcclSum::~NcclSum() = default;

core::Result<std::unique_ptr<NcclSum>> NcclSum::create(Communicator& ranks, c10::Device device) {
  if (!device.is_cuda()) return nullptr;
  const c10::cuda::CUDAGuard on_device(device);
  const auto failed = [&](ncclResult_t result) {
    return core::fail(
        core::Errc::not_supported,
        fmt::format("NCCL cannot join the ranks: {}; set NCCL_DEBUG=WARN for its reasons", ncclGetErrorString(result)));
  };
  ncclUniqueId id{};
  if (ranks.rank() == 0)
    if (const auto result = ncclGetUniqueId(&id); result != ncclSuccess) return failed(result);
  ranks.broadcast(std::as_writable_bytes(std::span(&id, 1)), 0);
  auto state = std::make_unique<State>(ranks.size(), device);
  if (const auto result = ncclCommInitRank(&state->group, ranks.size(), id, ranks.rank()); result != ncclSuccess)
    return failed(result);
  return std::unique_ptr<NcclSum>(new NcclSum(std::move(state)));
}

c10::intrusive_ptr<Future> NcclSum::average(torch::Tensor buffer, Wire wire) {
  const torch::NoGradGuard no_grad;
  const c10::cuda::CUDAGuard on_device(buffer.device());
  at::cuda::CUDAEvent ready;
  ready.record();
  ready.block(state_->stream);
  const c10::cuda::CUDAStreamGuard on_stream(state_->stream);
  buffer.record_stream(state_->stream.unwrap());
  if (wire == Wire::fp32 || buffer.scalar_type() != at::kFloat) {
    state_->sum(buffer, ncclAvg);
  } else {
    // Divided before it is added: a sum of many ranks would leave fp16's range.
    const auto halves = buffer.div(state_->ranks).to(wire == Wire::bf16 ? at::kBFloat16 : at::kHalf);
    state_->sum(halves, ncclSum);
    buffer.copy_(halves);
  }
  // The future notes the current streams: this one.
  auto done = c10::make_intrusive<Future>(c10::TensorType::get(), std::vector<c10::Device>{buffer.device()});
  done->markCompleted(c10::IValue(buffer));
  return done;
}

}  // namespace gradwatt::training
