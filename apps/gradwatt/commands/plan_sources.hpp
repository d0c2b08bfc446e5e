// What a plan is made from: runs, a table, a preset, a cluster file, and what was learnt of earlier runs; read, and
// each kept with its origin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/plan_options.hpp"
#include "gradwatt/planning/cluster/cluster.hpp"
#include "gradwatt/planning/fit_runs.hpp"
#include "gradwatt/planning/presets/preset.hpp"
#include "gradwatt/report/plan_text.hpp"

namespace gradwatt::app {

/// What runs say of the job besides their steps.
struct RunFacts {
  std::optional<double> gradient_bytes, epochs;
  double gpus_per_node = 0;  ///< that the record lists, used or not
  std::string gpu, model, precision;
};

struct PlanSources {
  const planning::Preset* preset = nullptr;
  std::optional<planning::Cluster> cluster;
  std::vector<planning::ProfileRow> rows;    ///< measured; empty for a preset alone
  std::vector<planning::ProfileRow> learnt;  ///< by plan --learn, not among the rows
  RunFacts facts;                            ///< of the first run
  std::string job;                           ///< what residuals are kept under
  std::string title;
  std::vector<report::PlanInput> inputs;
};

/// Errors: wrong_use, not_found, unusable_input. `without_run`: a run whose learnt row is left aside.
[[nodiscard]] core::Result<PlanSources> read_plan_sources(Context& context, const ParsedPlan& parsed,
                                                          const std::string& without_run);

}  // namespace gradwatt::app
