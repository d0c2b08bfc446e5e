// The data-parallel training loop: one process a rank, the same recipe on all.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/loop/objective.hpp"
#include "gradwatt/training/loop/recipe.hpp"
#include "gradwatt/training/loop/step_marks.hpp"

namespace gradwatt::training {

/// Where the run stands, after each update; only rank 0 is asked to show it.
struct Progress {
  std::int64_t epoch = 0, epochs = 0;
  std::int64_t step = 0, steps_per_epoch = 0;  ///< within the epoch
  double loss = 0;                             ///< of rank 0's last batch
  double learning_rate = 0;
  double samples_per_s = 0;          ///< of all ranks, over the last steps
  StepTimes times;                   ///< of the last update
  std::optional<Metrics> evaluated;  ///< at the end of an epoch
};

struct Outcome {
  Metrics metrics;  ///< of the last evaluation
  std::int64_t epochs = 0, updates = 0, samples = 0, skipped_updates = 0;
  double train_s = 0;                     ///< wall time in training steps, waiting for data included
  double total_s = 0;                     ///< with evaluation and checkpoints
  double data_wait_s = 0, exposed_s = 0;  ///< of this rank
  std::int64_t bytes_sent = 0, messages = 0;
  std::uint64_t parameters_hash = 0;  ///< over the bytes of all parameters, the same on all ranks
  bool resumed = false;
};

class Trainer {
 public:
  struct Options {
    bool resume = false;                      ///< go on from recipe.checkpoint when it is there
    std::filesystem::path marks_folder = {};  ///< for steps, epochs and facts; empty: nobody reads them
    std::function<void(const Progress&)> show;
  };
  /// Every rank makes one. Errors are those of one rank; the caller passes them to Communicator::fail.
  static core::Result<std::unique_ptr<Trainer>> create(const Recipe& recipe, Communicator& ranks, Options options);
  ~Trainer();
  core::Result<Outcome> run();

 private:
  class Impl;
  explicit Trainer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gradwatt::training
