// Whether every rank's gradients are finite: agreed before anything is compressed or applied, because a sign hides a
// NaN and a rank that leaves a step out alone lets the others wait for it.
#pragma once

#include "gradwatt/training/strategies/strategy.hpp"

namespace gradwatt::training {

[[nodiscard]] bool all_finite(const torch::Tensor& flat);
/// One number of each rank, the same answer on all. A collective.
[[nodiscard]] Soundness agree(Communicator& ranks, bool own_are_finite);

/// For settle().
[[nodiscard]] tl::unexpected<core::Error> not_finite(int rank);

}  // namespace gradwatt::training
