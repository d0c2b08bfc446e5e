// What a plan tries where the user does not say: sizes and batches near those that were measured.
#pragma once

#include <span>

#include "gradwatt/planning/fit_runs.hpp"
#include "gradwatt/planning/plan/question.hpp"

namespace gradwatt::planning {

/// How far beyond the profile plans go by themselves: three doublings. The interval's half-width is up to three times
/// there (docs/planning-models.md); more GPUs are asked for by name.
inline constexpr double kReach = 8;

/// GPUs from one replica to `kReach` times the largest measured number, doubling, whole nodes beyond one; every
/// measured local batch kept a replica, and every measured global batch kept for the job. `gpus_per_node`: 0 for the
/// largest number that a run had on one node.
[[nodiscard]] Axes axes_of(std::span<const ProfileRow> rows, double gpus_per_node = 0);

}  // namespace gradwatt::planning
