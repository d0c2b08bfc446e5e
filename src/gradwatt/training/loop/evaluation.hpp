// How good the model is on the evaluation set: each rank judges its share, the sums are added.
#pragma once

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/loop/assembly.hpp"

namespace gradwatt::training {

/// Every rank comes here and gets the same numbers; rank 0's batch-norm statistics become everybody's. Errors: those of
/// the data.
[[nodiscard]] core::Result<Metrics> evaluate(const Recipe& recipe, Communicator& ranks, Assembly& parts);

}  // namespace gradwatt::training
