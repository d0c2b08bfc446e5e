// One run's part of a comparison.
#include <algorithm>

#include "gradwatt/energy/comparison.hpp"
#include "gradwatt/energy/device_energy.hpp"
#include "gradwatt/energy/rank_steps.hpp"
#include "gradwatt/energy/steady_state.hpp"
#include "gradwatt/energy/steps.hpp"
#include "gradwatt/energy/totals.hpp"
#include "gradwatt/energy/whole_job.hpp"

namespace gradwatt::energy {
namespace {

/// Slices of power: enough for an interval, long enough to be resolved.
constexpr std::int64_t kSlices = 60;

/// All of them, or nothing: a mean over some steps is no mean over the run.
std::vector<double> phases_of(const std::vector<const record::Mark*>& steps, record::Phase phase) {
  std::vector<double> out;
  for (const auto* step : steps) {
    const auto seconds = phase_s(*step, phase);
    if (!seconds) return {};
    out.push_back(*seconds);
  }
  return out;
}

/// Samples of one step over all ranks; nothing when a rank or a step did not tell.
std::optional<double> samples_per_step(const RankSteps& ranks) {
  double sum = 0;
  for (const auto& [rank, steps] : ranks) {
    double samples = 0;
    for (const auto* step : steps) {
      if (!step->samples) return std::nullopt;
      samples += static_cast<double>(*step->samples);
    }
    sum += samples / static_cast<double>(steps.size());
  }
  return sum;
}

std::vector<double> power_of(const record::Run& run, Window window) {
  const auto job = job_window(run);
  if (!job) return {};
  const auto devices = measure_all(run, *job);
  const auto resolved = resolved_ns(devices);
  if (resolved <= 0 || window.length_ns() < resolved) return {};
  const auto slices = std::clamp<std::int64_t>(window.length_ns() / resolved, 1, kSlices);
  std::vector<double> out;
  for (std::int64_t i = 0; i < slices; ++i) {
    const Window slice{window.begin_ns + window.length_ns() * i / slices,
                       window.begin_ns + window.length_ns() * (i + 1) / slices};
    if (const auto energy = whole_job_energy(devices, slice)) out.push_back(energy->power_w);
  }
  return out;
}

std::optional<std::int64_t> wall_begin(const record::Run& run) {
  namespace meta = record::meta;
  const auto begin = run.number_of(meta::kJobBegin);
  if (!begin || run.text(meta::kClock) == "wall") return begin;
  const auto monotonic = run.number_of(meta::kAnchorMonotonic), wall = run.number_of(meta::kAnchorWall);
  return monotonic && wall ? std::optional(*begin - *monotonic + *wall) : std::nullopt;
}

}  // namespace

RunFigures figures_of(const record::Run& run) {
  RunFigures out;
  out.name = run.text(record::meta::kName).value_or(run.text(record::meta::kRunId).value_or("run"));
  out.begin_ns = wall_begin(run);
  out.ranks = fact_number(run, "job.world_size");
  const auto gpus = std::ranges::count_if(run.devices, [](const auto& device) {
    return device.kind == record::DeviceKind::gpu && !device.attributes.contains("parent");
  });
  if (gpus > 0) out.gpus = static_cast<double>(gpus);
  const auto steady = steady_part(run);
  if (!steady) return out;
  const auto ranks = steps_in(run, steady->window);
  if (!ranks.empty()) {
    const auto& steps = ranks.begin()->second;
    for (const auto* step : steps) out.step_s.push_back(seconds_of(*step));
    out.data_wait_s = phases_of(steps, record::Phase::data_wait);
    out.comm_exposed_s = phases_of(steps, record::Phase::comm_exposed);
    if (!out.ranks) out.ranks = static_cast<double>(ranks.size());
    if (*out.ranks <= static_cast<double>(ranks.size())) out.samples_per_step = samples_per_step(ranks);
    if (out.samples_per_step && *out.ranks > 0) out.local_batch = *out.samples_per_step / *out.ranks;
  }
  out.power_w = power_of(run, steady->window);
  return out;
}

}  // namespace gradwatt::energy
