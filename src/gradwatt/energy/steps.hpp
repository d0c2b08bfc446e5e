// The job's optimiser steps: rate, samples, time by phase, energy per step and sample.
#pragma once

#include <optional>
#include <vector>

#include "gradwatt/energy/whole_job.hpp"

namespace gradwatt::energy {

/// Steps of the lowest rank that has any, in order of their begin. Empty when the job sent none.
[[nodiscard]] std::vector<const record::Mark*> leading_steps(const record::Run& run);

/// Nothing when the job sent no steps. Samples, and what follows from them, are absent when a step did not say its
/// samples or a rank of the job (fact job.world_size) sent no steps. Energy is that of the whole job over the span of
/// the steps, and absent unless the span holds at least 10 updates.
[[nodiscard]] std::optional<Steps> steps_of(const record::Run& run, const std::vector<Measured>& devices);

/// The number of a fact with that name, the first that is a number.
[[nodiscard]] std::optional<double> fact_number(const record::Run& run, std::string_view name);

}  // namespace gradwatt::energy
