// Averages gradients that lie on GPUs where they lie, by NCCL on a stream of its own: beside the backward pass and not
// through host memory. Compiled against a LibTorch with CUDA; not run on GPUs yet.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <torch/types.h>

#include <memory>

#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/gradient_sync/shared_sum.hpp"

namespace gradwatt::training {

class NcclSum {
 public:
  /// A collective: each rank names the GPU that is its own. Null where this build has no NCCL or the device is no GPU.
  /// Errors: not_supported with NCCL's reason, such as two ranks on one GPU.
  static core::Result<std::unique_ptr<NcclSum>> create(Communicator& ranks, c10::Device device);
  ~NcclSum();

  /// In place: buffer (flat, dense) ← its mean over the ranks, once the work before it on the caller's stream is done.
  /// Returns at once; whoever waits for the future has its stream wait. The same buffers in the same order on all
  /// ranks. Throws c10::Error when NCCL refuses.
  [[nodiscard]] c10::intrusive_ptr<c10::ivalue::Future> average(torch::Tensor buffer, Wire wire);

 private:
  struct State;
  explicit NcclSum(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace gradwatt::training
