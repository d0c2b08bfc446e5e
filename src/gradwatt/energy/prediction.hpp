// The whole job from its steady part, where its length is known. Always estimated.
//
// Model: what was used so far + steps to come × (energy, time) of a steady step. Steady: the first tenth of the steps
// is left out (loading, compilation, caches), the rest is cut into ten blocks of equal step counts, and the middle one
// of the blocks' mean step times counts: one stall does not move it, a pause that comes in every block does.
// Interval: Student's 95 % over the blocks for the step time, the total's own interval for the power. It holds only
// as long as the job goes on as it did.
#pragma once

#include <optional>
#include <vector>

#include "gradwatt/energy/whole_job.hpp"

namespace gradwatt::energy {

/// Nothing when the total is unknown, fewer than 20 steps were seen, or none is to come.
[[nodiscard]] std::optional<Prediction> predict(const record::Run& run, const std::vector<Measured>& devices,
                                                const Totals& totals, Window job, const Options& options);

/// Steps of the whole job: asked for, else the fact job.total_steps, else epochs (asked for or the fact job.epochs) ×
/// the middle step count of the epochs that ended. Nothing when none of these is known.
[[nodiscard]] std::optional<std::int64_t> total_steps(const record::Run& run, const Options& options);

}  // namespace gradwatt::energy
