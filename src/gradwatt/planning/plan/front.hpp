// The settings that no other one beats, and where on them more speed starts to cost more than it is worth.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "gradwatt/planning/plan/candidate.hpp"

namespace gradwatt::planning {

/// Positions of the candidates that keep all limits and that none other beats in time, energy, cost and risk together
/// (beats: nowhere worse, somewhere better). Fastest first. Energy counts as GPU-hours where node power is not known:
/// E ≈ c · GPU-hours. Equal ones are there once. O(n · front).
[[nodiscard]] std::vector<std::size_t> front_of(std::span<const Candidate> candidates);

/// What a candidate is ranked by: energy, or GPU-hours where energy is not known.
[[nodiscard]] double effort_of(const Candidate& candidate);

/// Position in `candidates` of the knee: the point of the front where energy × time is least. Faster than there, energy
/// grows by a larger factor than time falls by; slower, the reverse. Nothing where that is the fastest or the slowest
/// point, or there are fewer than three.
[[nodiscard]] std::optional<std::size_t> knee_of(std::span<const Candidate> candidates,
                                                 std::span<const std::size_t> front);

}  // namespace gradwatt::planning
