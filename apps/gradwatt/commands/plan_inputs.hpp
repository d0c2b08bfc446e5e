// From what was typed to what the planner is asked: runs, tables, presets and cluster files read, and each input's
// origin kept for the answer.
#pragma once

#include <string>
#include <vector>

#include "commands/plan_options.hpp"
#include "gradwatt/planning/fit_runs.hpp"
#include "gradwatt/report/plan_text.hpp"

namespace gradwatt::app {

struct PlanAsk {
  planning::Question question;
  report::PlanSubject subject;
  std::string job;                         ///< what residuals are kept under
  std::vector<planning::ProfileRow> rows;  ///< measured; empty for a preset alone
};

/// Errors: wrong_use, not_found, unusable_input (an empty profile, a run without steps, a preset that says too little).
/// `without_run`: a run whose learnt row is left aside, so that it is not predicted from itself.
[[nodiscard]] core::Result<PlanAsk> gather_plan(Context& context, const ParsedPlan& parsed,
                                                const std::string& without_run = {});

}  // namespace gradwatt::app
