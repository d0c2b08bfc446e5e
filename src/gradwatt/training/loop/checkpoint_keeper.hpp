// When the state is kept, and that all ranks learn of it at the same step when it could not be.
#pragma once

#include <cstdint>
#include <optional>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/loop/checkpoint.hpp"
#include "gradwatt/training/loop/recipe.hpp"
#include "gradwatt/training/loop/step_marks.hpp"
#include "gradwatt/training/loop/training_state.hpp"

namespace gradwatt::training {

/// Every call is a collective: rank 0 writes, the others hand in their random generators and hear of errors. Without
/// checkpoint.file in the recipe nothing happens. Errors: io, when a write failed and the recipe says to stop then.
class CheckpointKeeper {
 public:
  CheckpointKeeper(const Recipe& recipe, Communicator& ranks, TrainingParts parts, StepMarks& marks);

  core::Result<void> after_update(const Place& place);
  /// `place`: the beginning of the next epoch.
  core::Result<void> after_epoch(const Place& place);
  /// The last state is kept, unless it is already, and waited for.
  core::Result<void> at_end(const Place& place);
  /// Where the file left off; nothing when it is not there. Errors: unusable_input with the file and what is wrong.
  core::Result<std::optional<Place>> resume();

 private:
  core::Result<void> save(const Place& place);
  core::Result<void> heed_errors();

  const Recipe& recipe_;
  Communicator& ranks_;
  TrainingParts parts_;
  StepMarks& marks_;
  std::optional<CheckpointFile> file_;
  std::optional<std::int64_t> kept_at_;  // updates that the last checkpoint holds
};

}  // namespace gradwatt::training
