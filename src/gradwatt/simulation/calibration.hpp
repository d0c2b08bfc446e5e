// A job for the simulator from a run of it: what a step computes, what it exchanges, what of that hides. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/record/run.hpp"
#include "gradwatt/simulation/simulate.hpp"

namespace gradwatt::simulation {

struct Calibration {
  Job job;                                  ///< strategy as it comes by default
  bool gradients_known = false;             ///< job.gradient_bytes was in the run
  std::optional<std::int64_t> local_batch;  ///< samples of a rank and step
  std::string model;                        ///< network that is trained; empty: not said
  std::optional<double> exposed_share;      ///< of the run itself, for comparison: exposed communication over step time
  std::vector<std::string> notes;           ///< one sentence each: what was assumed
};

/// Medians over the steps of each rank, then over ranks. Phases that the run does not tell are assumed, and noted.
/// Errors: unusable_input where the run holds no steps.
[[nodiscard]] core::Result<Calibration> calibrate(const record::Run& run);

/// Share of `gradient_bytes` that has left before the backward pass ends with PyTorch's buckets: all but the last one,
/// which takes what is left. A bucket is 25 MiB, the first 1 MiB (torch/nn/parallel/distributed.py, c10d reducer.hpp).
[[nodiscard]] double usual_overlap(double gradient_bytes, double bucket_bytes = 25.0 * 1024 * 1024);
[[nodiscard]] int usual_pieces(double gradient_bytes, double bucket_bytes = 25.0 * 1024 * 1024);

}  // namespace gradwatt::simulation
