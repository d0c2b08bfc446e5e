// How many CPU cores a GPU needs so that its input never waits, from what a run measured of its loader.
//
// Model: a worker prepares r samples a second on one core; a rank needs ceil(needed / r) workers, one core for itself
// and one for its helper threads (pinning, NCCL's proxy). Range: workers limited by CPU, on hosts whose clocks do not
// fall much with load. Known error: with hyper-threads instead of cores, or storage as the limit, r falls as workers
// are added; so the figure is a start for a trial, not an end.
//
// Cores that idle cost little and giving them back saves little: two Xeon 8368 drew 237 W while 96 % idle
// (RAI-SCC/ResNet, early report). What saves energy is to fill the GPUs of a node, which shares that base line.
#pragma once

#include <optional>
#include <string>

#include "gradwatt/core/result.hpp"

namespace gradwatt::planning {

struct HostNeed {
  // One of the two says how fast a worker is.
  std::optional<double> worker_samples_per_s;   ///< measured: the loader alone, over its workers
  std::optional<double> workers_running_share;  ///< of the time, with `workers` and `samples_per_s` of the run
  // What the run did, a rank.
  double samples_per_s = 0;
  int workers = 0;
  double data_wait_share = 0;  ///< of a step
};
struct HostShape {
  double cores = 0;  ///< usable by the job on one node: quota and affinity considered
  int gpus = 1;      ///< of the job on it, one rank each
};

/// Beside its workers a rank keeps one core busy itself and, together, about one with helper threads.
inline constexpr double kCoresOfARank = 2;

struct HostBalance {
  double needed_samples_per_s = 0;  ///< a rank, if it never waited
  double worker_samples_per_s = 0;
  int workers = 0;           ///< a rank, so that input keeps up
  double cores_per_gpu = 0;  ///< workers and the rank's own
  double cores_here_per_gpu = 0;
  int workers_here = 0;  ///< a rank, that the node's cores allow: at most cores/GPU − 1
  /// Highest rate of a rank that the node's cores allow; nothing when they suffice.
  std::optional<double> limited_to_samples_per_s;
  std::string advice;
};
/// Fails with what is missing: no throughput, no speed of a worker, no cores.
[[nodiscard]] core::Result<HostBalance> balance_host(const HostNeed& need, const HostShape& shape);

}  // namespace gradwatt::planning
