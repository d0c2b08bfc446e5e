// Batch normalisation by the statistics of the global batch. LibTorch has it for CUDA in Python alone.
#pragma once

#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/models/batch_norm.hpp"

namespace gradwatt::training {

/// For compute_batch_norms_by(). Gradients of weight and bias stay this rank's: the gradient sync averages them.
[[nodiscard]] BatchNormFunction synchronous_batch_norm(Communicator& ranks);

}  // namespace gradwatt::training
