// Which GPU a job is best put on, and with which local batch: for each candidate whether it fits, how fast it would be,
// what a sample would cost, and why the others lost.
//
// Model: speed by roofline.hpp from one measured GPU; power by carrying over how much of its range between idle and
// limit the measured GPU used. Known error: that of roofline.hpp; a published pair (FourCastNet, A100 to H100) lies
// inside the range. All figures of other GPUs are estimates with two ends; those of the measured one are its own.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gradwatt/planning/hardware/memory_need.hpp"
#include "gradwatt/planning/hardware/roofline.hpp"

namespace gradwatt::planning {

/// What was measured, on one GPU of the job.
struct Anchor {
  const catalog::GpuRow* gpu = nullptr;
  double samples_per_s = 0;
  double power_avg_w = 0;
};
struct PlacementAsk {
  Anchor measured;
  Workload work;
  MemoryNeed memory;
  int most_local_batch = 0;   ///< that convergence allows (global batch over GPUs); 0: no limit
  double base_w_per_gpu = 0;  ///< host, memory, fans and network of a node, over its GPUs
};

struct Range {
  double low = 0, middle = 0, high = 0;
};
struct Candidate {
  const catalog::GpuRow* gpu = nullptr;
  std::optional<LocalBatch> batch;           ///< nothing: does not fit, or memory unknown
  std::optional<Range> samples_per_s;        ///< of one GPU
  std::optional<Range> energy_per_sample_j;  ///< GPU and its share of the node
  std::optional<double> power_w;             ///< GPU alone
  bool measured = false;
  std::string verdict;  ///< of the first: why it won; of the others: why not
};
/// Best first: least energy a sample by the middle figure among those that fit; ties within 5 % go to the faster one.
/// Those that cannot be judged come last. Fails when nothing was measured or no candidate is given.
[[nodiscard]] core::Result<std::vector<Candidate>> place(const PlacementAsk& ask,
                                                         std::span<const catalog::GpuRow* const> gpus);

}  // namespace gradwatt::planning
