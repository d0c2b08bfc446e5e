// How many bytes of gradients a replica of a recorded job exchanges in a step.
#pragma once

#include <optional>

#include "gradwatt/record/run.hpp"

namespace gradwatt::planning {

struct GradientBytes {
  std::optional<double> known;  ///< nothing where the run tells neither bytes nor parameters
  bool assumed_fp32 = false;    ///< parameters were told: 4 bytes each
};
/// What the framework said itself comes first.
[[nodiscard]] GradientBytes gradient_bytes_of(const record::Run& run);

}  // namespace gradwatt::planning
