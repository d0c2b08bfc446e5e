// From what was measured to the models: run records and tables become rows of a profile, the rows become a job model.
//
// A table has a header line and one row a measured setting, commas between:
//   gpus,nodes,local_batch,accumulation,step_s,sync_s,cap_w,power_w,node_power_w,gpus_per_replica
// gpus, local_batch and step_s must be there; nodes, accumulation and gpus_per_replica are 1 where they are not; an
// empty cell is "not measured". power_w is the mean of one GPU, node_power_w of one node with its GPUs, sync_s the part
// of the step that waits for gradients.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/job_model.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::planning {

/// One measured setting.
struct ProfileRow {
  std::string source;  ///< run id, or "line 3"
  StepObservation step;
  double gpus = 1;
  std::optional<double> input_s;      ///< of a step, waiting for data
  std::optional<double> cap_w;        ///< nothing: no cap was set
  std::optional<double> gpu_power_w;  ///< mean of one GPU
  std::optional<double> node_power_w;
};

/// The steady part of a run with steps. Unusable input, with what the run lacks, when it holds no steps or their
/// samples are unknown. Node power only where more than the GPUs was measured.
[[nodiscard]] core::Result<ProfileRow> profile_row(const record::Run& run);

/// Unusable input names the line and the cell.
[[nodiscard]] core::Result<std::vector<ProfileRow>> profile_table(std::string_view csv);

/// Throughput always; power under caps where three or more were measured at one setting; node energy where any power
/// was. Size of the data set, epochs, evaluation and network are the caller's to add. Rows under a cap below the
/// highest count for the cap curve only.
[[nodiscard]] core::Result<JobModel> fit_profile(std::span<const ProfileRow> rows, const ThroughputPriors& priors = {},
                                                 const NodePowerPriors& power = {});

}  // namespace gradwatt::planning
