// Forecast pairs from made shallow-water weather: several independent flows, each a series of snapshots.
#pragma once

#include <memory>

#include "gradwatt/training/data/fields.hpp"
#include "gradwatt/training/data/shallow_water.hpp"

namespace gradwatt::training {

struct ShallowWaterData {
  ShallowWaterSettings model = {};
  std::uint64_t seed = 1;
  int flows = 8;                    ///< independent initial states of this part
  int snapshots = 60;               ///< of each flow
  double interval_s = 6 * 3600.0;   ///< between snapshots
  double spin_up_s = 2 * 86'400.0;  ///< lets what is unbalanced at the start spread, before the first snapshot
  int steps = 1;                    ///< fields in a target
  /// Which flows: training takes numbers from 0 on, evaluation others that training never sees.
  bool held_out = false;
};

/// Channels: depth (m), u and v (m/s) at the middle of the cells. Normalised by flow 0 of the training part, which
/// every part computes, so that all of them use the same numbers. The climatology is flow 0's mean over time and
/// longitude: no longitude differs from another in these equations. Errors: wrong_use (sizes), unusable_input (the flow
/// became unstable: a stronger wind than the depth bears).
[[nodiscard]] core::Result<std::shared_ptr<FieldDataset>> make_shallow_water(const ShallowWaterData& data);

}  // namespace gradwatt::training
