// What a run record should know of a training besides its steps: model, sizes and results, under the names of the fact
// table, so that reports can set energy beside what was reached with it.
#pragma once

#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/loop/assembly.hpp"
#include "gradwatt/training/loop/recipe.hpp"
#include "gradwatt/training/loop/step_marks.hpp"

namespace gradwatt::training {

/// At the start. Facts of the job come from rank 0, those of a rank from each.
void tell_setup(StepMarks& marks, const Recipe& recipe, const Communicator& ranks, const Assembly& parts);
/// After each evaluation, rank 0: "accuracy_pct" becomes "result.accuracy_pct". What is not finite is left out.
void tell_results(StepMarks& marks, const Communicator& ranks, const Metrics& metrics);
/// At the end, rank 0: `samples` over all ranks.
void tell_work(StepMarks& marks, const Communicator& ranks, std::int64_t updates, std::int64_t samples);

}  // namespace gradwatt::training
