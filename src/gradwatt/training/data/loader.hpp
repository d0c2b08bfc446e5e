// Brings batches to the training loop ahead of its need: worker threads decode examples straight into the rows of
// batch tensors. All workers share the next batch, so the first one of an epoch is there as early as possible.
//
//   Loader loader(dataset, sampler, {.workers = 4});
//   if (auto begun = loader.begin_epoch(epoch, position); !begun) …
//   while (true) {
//     auto batch = loader.next();            // Result<std::optional<Batch>>
//     if (!batch) …                          // an example cannot be read: file and reason
//     if (!*batch) break;                    // end of the epoch
//     train((*batch)->input, (*batch)->target);
//   }
//
// What a batch holds depends on (seed, epoch, position) only, never on the settings.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/data/dataset.hpp"
#include "gradwatt/training/data/sampler.hpp"

namespace gradwatt::training {

/// What becomes of an example that cannot be read.
enum class BadExample {
  stop,        ///< next() gives the error, after the batches before it
  substitute,  ///< the next readable example of the data set takes its row, so that batches stay equal; it is counted
};

/// The knobs that diagnosis and tuning turn.
struct LoaderSettings {
  int workers = 2;                 ///< threads of this rank; 0: next() itself loads, nothing is read ahead
  int prefetch = 2;                ///< batches read ahead for each worker, as in other loaders
  bool pin_memory = true;          ///< page-locked batches for fast copies to a GPU; without effect where CUDA is not
  bool persistent_workers = true;  ///< threads live as long as the loader; false: for one epoch
  BadExample bad_example = BadExample::stop;
};

struct Batch {
  torch::Tensor input;               ///< count × the data set's input shape, fp32
  torch::Tensor target;              ///< count class numbers (int64), or count × the target shape, fp32
  std::vector<std::size_t> indices;  ///< of the examples that the rows hold
  std::uint64_t position_after = 0;  ///< where begin_epoch must begin to resume after this batch
};

/// For one consumer thread. The consumer owns a batch it got; its memory is used again only when nobody holds a tensor
/// of it any more.
class Loader {
 public:
  Loader(std::shared_ptr<const Dataset> dataset, DistributedSampler sampler, LoaderSettings settings);
  /// Waits at most for the examples that workers are reading at this moment.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Starts reading; what is left of an earlier epoch is dropped. Errors: wrong_use (position beyond the epoch).
  [[nodiscard]] core::Result<void> begin_epoch(std::uint64_t epoch, std::uint64_t position = 0);
  /// The next batch in order, nothing at the end of the epoch. After an error: the same error again.
  [[nodiscard]] core::Result<std::optional<Batch>> next();

  /// Count from the next begin_epoch on.
  void set_settings(const LoaderSettings& settings);
  void set_sampler(const DistributedSampler& sampler);
  [[nodiscard]] const LoaderSettings& settings() const;
  [[nodiscard]] const DistributedSampler& sampler() const;

  /// Examples that another took the place of, so far, and why the last of them could not be read.
  struct Substituted {
    std::uint64_t count = 0;
    std::string last_reason;
  };
  [[nodiscard]] Substituted substituted() const;

 private:
  class Crew;
  std::unique_ptr<Crew> crew_;
};

}  // namespace gradwatt::training
