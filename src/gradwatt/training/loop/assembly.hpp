// All the parts of a training, made from its recipe: data, model, optimizer, schedule, strategy.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/data/loader.hpp"
#include "gradwatt/training/loop/objective.hpp"
#include "gradwatt/training/loop/recipe.hpp"
#include "gradwatt/training/loop/training_state.hpp"
#include "gradwatt/training/models/model.hpp"
#include "gradwatt/training/named_tensors.hpp"
#include "gradwatt/training/optimisation/loss_scaler.hpp"
#include "gradwatt/training/optimisation/optimizer.hpp"
#include "gradwatt/training/optimisation/schedule.hpp"
#include "gradwatt/training/strategies/strategy.hpp"

namespace gradwatt::training {

struct Assembly {
  torch::Device device{at::kCPU};
  std::shared_ptr<const Dataset> validation;
  std::unique_ptr<Loader> loader, validation_loader;
  std::unique_ptr<Objective> objective;
  std::shared_ptr<Model> model;
  NamedTensors parameters;  ///< that are trained
  std::unique_ptr<Optimizer> optimizer;
  std::optional<Schedule> schedule;
  LossScaler scaler;
  std::unique_ptr<Strategy> strategy;
  std::int64_t micro_batch = 0;   ///< of one rank and micro-step
  std::int64_t global_batch = 0;  ///< of all ranks and micro-steps
  std::int64_t updates_per_epoch = 0;

  [[nodiscard]] TrainingParts state() { return {*model, *optimizer, *schedule, scaler, *strategy}; }
};

/// Every rank comes here. Errors are those of one rank.
[[nodiscard]] core::Result<std::unique_ptr<Assembly>> assemble(const Recipe& recipe, Communicator& ranks);

/// A batch as the model wants it: on its device, in its type and memory layout.
[[nodiscard]] torch::Tensor prepared(const torch::Tensor& batch, const Recipe& recipe, torch::Device device);

/// Running statistics of batch norms are each rank's own; rank 0's are the model's. A collective.
void take_statistics_of_rank_zero(Communicator& ranks, Model& model);

}  // namespace gradwatt::training
