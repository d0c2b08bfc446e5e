#include "gradwatt/planning/plan/residual.hpp"

#include <algorithm>
#include <cmath>

namespace gradwatt::planning {
namespace {

/// The interval's relative width carried over to another figure of the same origin.
Figure like(const Figure& figure, double value) {
  return {value, value * figure.low90 / figure.value, value * figure.high90 / figure.value};
}

}  // namespace

core::Result<std::vector<Residual>> residuals_of(const JobModel& job, const ProfileRow& measured) {
  const auto& load = measured.step.load;
  if (auto gap = gap_of(job.throughput, load)) return core::fail(core::Errc::unusable_input, *gap);
  const auto time = step_time(job.throughput, load);
  const auto step = step_figure(job.throughput, load);
  std::vector<Residual> out{{"step", "s", step, measured.step.step_s}};
  if (measured.step.exposed_s && time.exposed_s > 0)
    out.push_back({"exposed communication", "s", like(step, time.exposed_s), *measured.step.exposed_s});
  if (!job.energy) return out;
  const NodeTimes times{load.nodes, measured.gpus, time.step_s, std::min(time.step_s, time.gradient_s), time.exposed_s};
  const auto split = energy_split(node_power(*job.energy), times, {});
  const auto energy = energy_figure(*job.energy, times, {});
  const double gpus_j = split.gpu_idle_j + split.gpu_busy_j + split.gpu_wait_j;
  if (measured.gpu_power_w)
    out.push_back({"power of a GPU", "W", like(energy, gpus_j / time.step_s / measured.gpus), *measured.gpu_power_w});
  if (measured.node_power_w && job.energy->knows_base)
    out.push_back(
        {"power of a node", "W", like(energy, split.total_j / time.step_s / load.nodes), *measured.node_power_w});
  return out;
}

}  // namespace gradwatt::planning
