// What is done to averaged gradients before the update, in this order: divide by the loss scale, look for values that
// are not finite, clip.
#pragma once

#include "gradwatt/training/named_tensors.hpp"

namespace gradwatt::training {

/// Euclidean norm of all gradients together, in double. Not finite when any gradient is not.
[[nodiscard]] double gradient_norm(const NamedTensors& parameters);

/// g ← factor · g.
void scale_gradients(const NamedTensors& parameters, double factor);

/// Factor that brings a norm to `limit` at most: min(1, limit / (norm + 1e-6)).
[[nodiscard]] double clip_factor(double norm, double limit);

}  // namespace gradwatt::training
