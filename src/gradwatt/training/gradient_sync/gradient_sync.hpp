// How the ranks' gradients become one in every step (strategies/ has the ways that do not do that, and the interface
// that the loop calls).
//
// A step: begin_step() before the forward pass, before_backward() with its output, backward, finish(). Micro-steps of
// an accumulation that do not communicate leave all three out.
#pragma once

#include <torch/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/training/gradient_sync/averager.hpp"
#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/named_tensors.hpp"

namespace gradwatt::training {

class GradientSync {
 public:
  virtual ~GradientSync() = default;
  virtual void begin_step() = 0;
  virtual void before_backward(const torch::Tensor& output) = 0;
  /// After the backward pass: gradients are those of the global batch.
  virtual void finish() = 0;

  struct Costs {
    core::Duration exposed{0};  ///< that the computation waited for, of the last step
    core::Duration busy{0};     ///< that communication took in all, of the last step
    std::int64_t bytes = 0;     ///< that this rank put on the wire since the start
    std::int64_t messages = 0;
  };
  [[nodiscard]] virtual Costs costs() const = 0;
};

struct SyncOptions {
  bool overlap = true;  ///< communicate while the backward pass goes on
  std::size_t bucket_bytes = std::size_t{25} << 20U;
  std::size_t first_bucket_bytes = std::size_t{1} << 20U;
  Averager::Options averager;
};

/// `parameters`: those that get a gradient in every step, in registration order, the same on all ranks. Their values
/// are made rank 0's. Errors: wrong_use when the ranks' parameters differ in name or shape.
[[nodiscard]] core::Result<std::unique_ptr<GradientSync>> make_gradient_sync(Communicator& ranks,
                                                                             const NamedTensors& parameters,
                                                                             const SyncOptions& options);

/// Values become rank 0's. Errors: as above.
[[nodiscard]] core::Result<void> share_parameters(Communicator& ranks, const NamedTensors& parameters);

/// True where this build has c10d's Reducer; otherwise overlap is not there and the simple way is used.
[[nodiscard]] bool has_reducer();

/// Makes the tensors rank 0's on all ranks (parameters at the start, batch-norm statistics before an evaluation).
void broadcast_tensors(Communicator& ranks, const NamedTensors& tensors);

/// Indices of tensors by bucket: registration order reversed, a bucket closes when it reaches its limit, the first
/// (which is ready first) has its own. One type a bucket.
[[nodiscard]] std::vector<std::vector<std::size_t>> buckets_of(const NamedTensors& parameters,
                                                               std::size_t first_bucket_bytes,
                                                               std::size_t bucket_bytes);

}  // namespace gradwatt::training
