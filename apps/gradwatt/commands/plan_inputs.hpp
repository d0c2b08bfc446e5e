// From what was typed and read to what the planner is asked.
#pragma once

#include <string>
#include <vector>

#include "commands/plan_sources.hpp"
#include "gradwatt/report/plan_text.hpp"

namespace gradwatt::app {

struct PlanAsk {
  planning::Question question;
  report::PlanSubject subject;
  std::string job;  ///< what residuals are kept under
};

/// Errors: wrong_use, not_found, unusable_input (an empty profile, a run without steps, a preset that says too little).
/// `without_run`: a run whose learnt row is left aside, so that it is not predicted from itself.
[[nodiscard]] core::Result<PlanAsk> gather_plan(Context& context, const ParsedPlan& parsed,
                                                const std::string& without_run = {});

}  // namespace gradwatt::app
