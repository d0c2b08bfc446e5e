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
#include "gradwatt/training/strategies/strategy.hpp"

namespace gradwatt::training {

struct TrainingParts {
  Model& model;
  Optimizer& optimizer;
  Schedule& schedule;
  LossScaler& scaler;
  Strategy& strategy;
};

/// Where a run stands in its epochs.
struct Place {
  std::int64_t epoch = 0;
  std::uint64_t position = 0;  ///< in the epoch, in examples of all ranks
  std::int64_t updates = 0;    ///< since the start
};

/// What a rank alone has: its random generator, and what its strategy keeps, as bytes.
struct RankState {
  std::string random, strategy;
};
/// At rank 0 those of all ranks, elsewhere nothing. A collective.
[[nodiscard]] std::vector<RankState> gather_rank_states(Communicator& ranks, Strategy& strategy);

/// Tensors are the parts' own, not copies.
[[nodiscard]] Snapshot snapshot_of(const TrainingParts& parts, const Place& place,
                                   const std::vector<RankState>& rank_states, const std::string& recipe);

/// Errors: unusable_input when the snapshot is of another model, optimizer or strategy, with the
/// first difference.
[[nodiscard]] core::Result<Place> restore(const Snapshot& snapshot, const TrainingParts& parts, int rank);

}  // namespace gradwatt::training
