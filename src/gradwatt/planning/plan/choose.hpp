// Private to this folder: the setting to take, and why others were not.
#pragma once

#include <span>

#include "gradwatt/planning/plan/plan.hpp"

namespace gradwatt::planning {

[[nodiscard]] std::optional<std::size_t> choose(std::span<const Candidate> candidates,
                                                std::span<const std::size_t> front);
[[nodiscard]] std::vector<Rival> rivals_of(const Question& question, const Grid& grid,
                                           std::span<const std::size_t> front, std::size_t chosen);
/// No candidate keeps all limits: at least one is there.
[[nodiscard]] Impossible explain_impossible(const Question& question, std::span<const Candidate> candidates);

}  // namespace gradwatt::planning
