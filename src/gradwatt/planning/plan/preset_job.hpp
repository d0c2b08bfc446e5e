// A published preset as a job that can be planned: its runs give the time of a step over GPUs and batch, its
// coefficient the power of a node. Published, not measured here; what an own profile knows wins over it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gradwatt/planning/fit_runs.hpp"
#include "gradwatt/planning/plan/question.hpp"
#include "gradwatt/planning/presets/preset.hpp"

namespace gradwatt::planning {

struct PresetJob {
  JobModel job;
  std::vector<double> gpus;          ///< of the published runs, and those between
  std::vector<BatchChoice> batches;  ///< likewise
  std::optional<GoodBatches> good_batches;
  std::optional<double> most_local_batch;
  std::string memory_origin;
};

/// Hours are of the whole job, evaluation included, so a "step" here holds its share of that. Unusable input, with what
/// the preset does say, where it publishes no hours over GPUs or not the samples and passes that they are of.
/// `learnt`: own runs of it, fitted with the published ones. `told`: hours of whole runs that the user knows (their
/// global batch is the largest that the preset allows); of a job whose samples are not published only they count.
[[nodiscard]] core::Result<PresetJob> preset_job(const Preset& preset, std::span<const ProfileRow> learnt = {},
                                                 std::span<const PublishedRun> told = {});

/// What a profile does not know, from the preset: passes, size of the data, batches that reach the quality, node power.
[[nodiscard]] PresetJob fill_from(const Preset& preset, JobModel profiled);

/// "0.27 to 0.31 kWh a GPU-hour; global batch up to 32": all figures of the preset in one line.
[[nodiscard]] std::string what_it_says(const Preset& preset);

}  // namespace gradwatt::planning
