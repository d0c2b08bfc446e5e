// All that a training is, besides its recipe and its data: to and from the tensors and values of a checkpoint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/loop/checkpoint.hpp"
#include "gradwatt/training/models/model.hpp"
#include "gradwatt/training/optimisation/loss_scaler.hpp"
#include "gradwatt/training/optimisation/optimizer.hpp"
#include "gradwatt/training/optimisation/schedule.hpp"

namespace gradwatt::training {

struct TrainingParts {
  Model& model;
  Optimizer& optimizer;
  Schedule& schedule;
  LossScaler& scaler;
};

/// Where a run stands in its epochs.
struct Place {
  std::int64_t epoch = 0;
  std::uint64_t position = 0;  ///< in the epoch, in examples of all ranks
  std::int64_t updates = 0;    ///< since the start
};

/// This rank's random generator, as bytes.
[[nodiscard]] std::string random_state();

/// Tensors are the parts' own, not copies. `random_states`: of all ranks.
[[nodiscard]] Snapshot snapshot_of(const TrainingParts& parts, const Place& place,
                                   const std::vector<std::string>& random_states, const std::string& recipe);

/// Errors: unusable_input when the snapshot is of another model or optimizer, with the first difference.
[[nodiscard]] core::Result<Place> restore(const Snapshot& snapshot, const TrainingParts& parts, int rank);

}  // namespace gradwatt::training
