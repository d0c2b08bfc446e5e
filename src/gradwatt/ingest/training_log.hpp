// Training logs with times: how long a step takes, and how much of it waits for data.
//
// The programs whose lines are known stand in step_lines.cpp, MLPerf's in mllog.cpp. The first line of an epoch is the
// start-up of its loader and is left out where others follow. Where a program prints running means, the share of data
// wait is taken from them, because every tenth step is a poor sample of a loader that stalls every eighth.
#pragma once

#include <memory>

#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/line_witness.hpp"

namespace gradwatt::ingest {

/// Facts: step.time_s, step.time_p95_s, step.count, step.data_wait_*, step.samples_per_s, job.global_batch_size. Marks
/// of steps only where each step has a line with a time of day.
[[nodiscard]] std::unique_ptr<LineWitness> make_training_log(const ImportOptions& options);

}  // namespace gradwatt::ingest
