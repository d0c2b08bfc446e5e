// The chosen plan as a Slurm batch script, with what was predicted as comments.
#pragma once

#include "commands/plan_inputs.hpp"
#include "gradwatt/planning/plan/plan.hpp"

namespace gradwatt::app {

/// Errors: wrong_use with what the script lacks, or which limit of the node shape binds.
[[nodiscard]] core::Result<std::string> job_file_of(const PlanWish& wish, const PlanAsk& ask,
                                                    const planning::Plan& plan);

}  // namespace gradwatt::app
