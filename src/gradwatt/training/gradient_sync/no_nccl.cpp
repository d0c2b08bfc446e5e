// Where this LibTorch has no CUDA or NCCL is not found: gradients of GPUs go through host memory.
#include <ATen/ATen.h>

#include "gradwatt/training/gradient_sync/nccl_sum.hpp"

namespace gradwatt::training {

struct NcclSum::State {};

NcclSum::~NcclSum() = default;

core::Result<std::unique_ptr<NcclSum>> NcclSum::create(Communicator& /*ranks*/, c10::Device /*device*/) {
  return nullptr;
}

c10::intrusive_ptr<c10::ivalue::Future> NcclSum::average(torch::Tensor /*buffer*/, Wire /*wire*/) {
  TORCH_CHECK(false, "this build has no NCCL");
}

}  // namespace gradwatt::training
