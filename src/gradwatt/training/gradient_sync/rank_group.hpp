// The little that c10d's Reducer asks of a process group besides summing gradients: to agree on the order of buckets.
// LibTorch 2 split the class in two; the difference is here alone.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "gradwatt/training/gradient_sync/communicator.hpp"

namespace gradwatt::training {

[[nodiscard]] c10::intrusive_ptr<c10d::ProcessGroup> make_rank_group(Communicator& ranks);

}  // namespace gradwatt::training
