// What is done to averaged gradients, in this order: divide by the loss scale, look for values that are not finite,
// clip, update. A value that is not finite is in the average of every rank, so that all leave the update out together.
#pragma once

#include <optional>

#include "gradwatt/training/optimisation/loss_scaler.hpp"
#include "gradwatt/training/optimisation/optimizer.hpp"

namespace gradwatt::training {

struct UpdateGuard {
  double clip = 0;                 ///< largest norm of all gradients together; 0: no clipping
  bool look_for_overflow = false;  ///< clipping looks anyhow
  /// The ranks know already whether one of them has a gradient that is not finite; nobody looks again.
  std::optional<bool> overflow = std::nullopt;
};

/// False: some gradient was not finite, weights and optimizer are as they were. The scaler hears of it either way.
bool guarded_update(Optimizer& optimizer, LossScaler& scaler, const UpdateGuard& guard, double rate);

}  // namespace gradwatt::training
