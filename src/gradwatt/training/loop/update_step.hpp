// One update: micro-steps of forward and backward passes, the ranks' average, and what the optimizer does with it.
#pragma once

#include <cstdint>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/loop/assembly.hpp"
#include "gradwatt/training/loop/step_marks.hpp"

namespace gradwatt::training {

struct UpdateResult {
  double loss = 0;  ///< mean over this rank's part of the global batch
  StepTimes times;
  bool skipped = false;              ///< a gradient was not finite; the weights stay, on all ranks
  std::uint64_t position_after = 0;  ///< in the epoch, in examples of all ranks
};

/// Takes the loader's next batches. Errors: those of the data; unusable_input when this rank's loss is not finite, or,
/// where the strategy looks before it compresses, some rank's gradient; then on all ranks.
[[nodiscard]] core::Result<UpdateResult> update_once(const Recipe& recipe, Assembly& parts, const StepPlace& place);

}  // namespace gradwatt::training
