#include "gradwatt/energy/steady_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gradwatt/energy/change_points.hpp"
#include "gradwatt/energy/rank_steps.hpp"
#include "gradwatt/energy/readings.hpp"

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;

/// Fewer steps are a start, not a level.
constexpr std::size_t kLeastSteps = 5;
/// The first steps of a job compile, tune and fill caches, however short they are.
constexpr std::size_t kWarmUp = 2;

/// Levels that tell work from rest where no step is told, best first.
constexpr std::array kLevels{metric(DeviceKind::gpu, "power_avg"), metric(DeviceKind::gpu, "power_inst"),
                             metric(DeviceKind::gpu, "utilization"), metric(DeviceKind::node, "cpu_utilization")};

std::optional<SteadyPart> steady_steps(const record::Run& run, Window job) {
  const auto ranks = steps_in(run, job);
  if (ranks.empty() || ranks.begin()->second.size() < kLeastSteps) return std::nullopt;
  const auto& steps = ranks.begin()->second;
  std::vector<double> level, weight;
  for (const auto* step : steps) {
    level.push_back(std::log(seconds_of(*step)));
    weight.push_back(seconds_of(*step));
  }
  // On a log scale single long steps weigh little; what a tenth means there is a tenth of the length.
  auto steady = steady_segment(level, weight);
  const auto warm_up = std::min(kWarmUp, steps.size() / 4);
  steady.begin = std::max(steady.begin, warm_up);
  if (steady.end <= steady.begin) return std::nullopt;
  return SteadyPart{{steps[steady.begin]->begin_ns, steps[steady.end - 1]->end_ns},
                    fmt::format("steps {} to {} of {}", steady.begin + 1, steady.end, steps.size())};
}

std::optional<SteadyPart> steady_level(const record::Run& run, Window job) {
  for (const auto id : kLevels)
    for (std::uint32_t i = 0; i < run.devices.size(); ++i) {
      const auto series = open_series(run, static_cast<record::DeviceIndex>(i), id);
      if (!series || series->readings.size() < 20) continue;
      std::vector<double> values;
      std::vector<std::int64_t> times;
      for (std::size_t k = series->readings.first_at_or_after(job.begin_ns);
           k < series->readings.size() && series->readings.time_ns()[k] <= job.end_ns; ++k) {
        values.push_back(static_cast<double>(series->readings.values()[k]));
        times.push_back(series->readings.time_ns()[k]);
      }
      if (values.size() < 20) continue;
      // The steady part is where the job works: of the two longest levels the higher one would be it, and rest before
      // and after is shorter than work in any job worth a diagnosis.
      const auto steady = steady_segment(values);
      return SteadyPart{{times[steady.begin], times[steady.end - 1]},
                        fmt::format("{:.0f} of {:.0f} s at an even level",
                                    Window{times[steady.begin], times[steady.end - 1]}.seconds(), job.seconds())};
    }
  return std::nullopt;
}

}  // namespace

std::optional<SteadyPart> steady_part(const record::Run& run) {
  const auto job = job_window(run);
  if (!job || job->empty()) return std::nullopt;
  if (auto steady = steady_steps(run, *job)) return steady;
  if (auto steady = steady_level(run, *job)) return steady;
  return SteadyPart{*job, "the whole run"};
}

}  // namespace gradwatt::energy
