#include "gradwatt/planning/hardware/host_balance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradwatt::planning {
namespace {

using core::Errc;

/// A rate read off busy workers is only theirs when they were the limit or their busy time is known.
std::optional<double> worker_rate(const HostNeed& need) {
  if (need.worker_samples_per_s) return need.worker_samples_per_s;
  if (need.workers > 0 && need.workers_running_share && *need.workers_running_share > 0)
    return need.samples_per_s / (need.workers * *need.workers_running_share);
  return std::nullopt;
}

std::string advice_for(const HostBalance& b, const HostNeed& need) {
  if (b.limited_to_samples_per_s)
    return fmt::format(
        "a GPU needs {:.0f} cores and has {:.1f}: at most {:.0f} of {:.0f} samples/s a GPU; make the input "
        "cheaper (decode smaller images, store decoded data, decode on the GPU), or use fewer GPUs of the "
        "node",
        b.cores_per_gpu, b.cores_here_per_gpu, *b.limited_to_samples_per_s, b.needed_samples_per_s);
  if (need.workers < b.workers)
    return fmt::format(
        "{} workers a GPU instead of {} keep it fed, {:.0f} of {:.1f} cores; try it and the counts beside "
        "it",
        b.workers, need.workers, b.cores_per_gpu, b.cores_here_per_gpu);
  return fmt::format(
      "{} workers a GPU suffice ({} run now), {:.0f} of {:.1f} cores; fewer cores save little, for idle cores "
      "draw little less than none: fill the GPUs of a node instead",
      b.workers, need.workers, b.cores_per_gpu, b.cores_here_per_gpu);
}

}  // namespace

core::Result<HostBalance> balance_host(const HostNeed& need, const HostShape& shape) {
  if (!(need.samples_per_s > 0))
    return core::fail(Errc::unusable_input,
                      "samples a second of a rank are not known; profile a run with marks of its steps");
  if (!(shape.cores > 0) || shape.gpus < 1)
    return core::fail(Errc::unusable_input,
                      fmt::format("{:.0f} cores for {} GPUs are no node; state cores and GPUs of one "
                                  "node",
                                  shape.cores, shape.gpus));
  if (!(need.data_wait_share >= 0) || need.data_wait_share >= 1)
    return core::fail(Errc::unusable_input,
                      fmt::format("a wait of {:.2f} of a step is none; it lies between 0 and 1", need.data_wait_share));
  const auto rate = worker_rate(need);
  if (!rate || !(*rate > 0))
    return core::fail(Errc::unusable_input,
                      "how fast one loader worker is is not known; measure the loader without training, or a run whose "
                      "workers are seen");
  HostBalance out;
  out.needed_samples_per_s = need.samples_per_s / (1 - need.data_wait_share);
  out.worker_samples_per_s = *rate;
  // A hair below a whole number is that number: the figures are measured.
  out.workers = static_cast<int>(std::ceil(out.needed_samples_per_s / *rate - 1e-6));
  out.cores_per_gpu = out.workers + kCoresOfARank;
  out.cores_here_per_gpu = shape.cores / shape.gpus;
  out.workers_here = std::max(0, static_cast<int>(std::floor(out.cores_here_per_gpu)) - 1);
  if (out.workers > out.workers_here) out.limited_to_samples_per_s = out.workers_here * *rate;
  out.advice = advice_for(out, need);
  return out;
}

}  // namespace gradwatt::planning
