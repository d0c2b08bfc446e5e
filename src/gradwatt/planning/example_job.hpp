// For tests: a job whose figures can be followed by hand.
#pragma once

#include "gradwatt/planning/job_model.hpp"

namespace gradwatt::planning {

/// 20 ms and 1 ms a sample for a pass, exchange of 4 ms inside a node and 30 ms across, 400 W a node without its GPUs,
/// ten epochs of a million samples.
inline JobModel example_job() {
  JobModel out;
  out.throughput = throughput_of({.grad_fixed_s = 0.02,
                                  .grad_per_sample_s = 0.001,
                                  .net_inside_s = 0.004,
                                  .growth_inside = 0.15,
                                  .net_across_s = 0.03,
                                  .growth_across = 0.15,
                                  .overlap = 2,
                                  .two_nodes = 1},
                                 0.1);
  out.energy = *fit_node_energy({}, {.base_w = {400, 0.1}});
  out.dataset_samples = 1e6;
  out.epochs = 10;
  return out;
}

}  // namespace gradwatt::planning
