// MLPerf's log lines, ":::MLLOG {json}": begin and end of a run, its epochs, throughput, and the node's power where the
// submission measured it (mlperf_logging, "power_reading" in watts).
#pragma once

#include <memory>

#include "gradwatt/ingest/line_witness.hpp"

namespace gradwatt::ingest {

/// Facts: step.samples_per_s, job.global_batch_size, job.accumulation_steps, step.evaluation_share. Marks of epochs and
/// evaluations, begin and end of the job, and a series of node power.
[[nodiscard]] std::unique_ptr<LineWitness> make_mllog();

}  // namespace gradwatt::ingest
