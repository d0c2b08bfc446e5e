// What the job's marks and the host's pressure figures show: waiting for input, pressure on memory and storage, ranks
// that take unlike time.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gradwatt/diagnosis/trigger_functions.hpp"
#include "gradwatt/diagnosis/window_figures.hpp"

namespace gradwatt::diagnosis {
namespace {

using energy::Window;
using record::DeviceKind;
using record::MarkKind;
using record::metric;

constexpr auto kMemoryPressure = metric(DeviceKind::node, "pressure_memory");
constexpr auto kIoPressure = metric(DeviceKind::node, "pressure_io");

/// Too few steps show warm-up, not the job.
constexpr std::size_t kLeastSteps = 5;

bool is_step_inside(const record::Mark& mark, Window window) {
  return mark.kind == MarkKind::step && mark.begin_ns >= window.begin_ns && mark.end_ns <= window.end_ns;
}

std::optional<Trigger> pressure(const record::Run& run, Window window, const TriggerInfo& row, record::MetricId counter,
                                std::string_view on) {
  std::optional<Trigger> worst;
  for (std::uint32_t i = 0; i < run.devices.size(); ++i) {
    const auto node = static_cast<record::DeviceIndex>(i);
    if (run.devices[i].kind != DeviceKind::node) continue;
    const auto growth = growth_in(run, node, counter, window);
    if (!growth || growth->seconds <= 0) continue;
    const double share = 100 * growth->amount / growth->seconds;
    if (share <= row.threshold || (worst && share <= worst->value)) continue;
    worst = begin_trigger(row, Severity::warning);
    worst->device = node;
    worst->value = share;
    worst->time_share = std::min(1.0, share / 100);
    worst->text = fmt::format("some thread waited for {} {:.0f} % of the time{}", on, share,
                              run.devices[i].host.empty() ? "" : " on " + run.devices[i].host);
  }
  return worst;
}

struct RankSteps {
  std::vector<std::int64_t> length_ns;
};

std::int64_t median_of(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::optional<Trigger> look_input_wait(const record::Run& run, Window window, const TriggerInfo& row) {
  std::int64_t wait_ns = 0, step_ns = 0;
  std::size_t steps = 0;
  for (const auto& mark : run.marks) {
    const auto& wait = mark.phase_ns[static_cast<std::size_t>(record::Phase::data_wait)];
    if (!is_step_inside(mark, window) || !wait) continue;
    wait_ns += *wait;
    step_ns += mark.end_ns - mark.begin_ns;
    ++steps;
  }
  if (steps < kLeastSteps || step_ns <= 0) return std::nullopt;
  const double share = 100 * static_cast<double>(wait_ns) / static_cast<double>(step_ns);
  if (share <= row.threshold) return std::nullopt;
  auto out = begin_trigger(row, Severity::warning);
  out.value = share;
  out.time_share = std::min(1.0, share / 100);
  out.text = fmt::format("steps wait for input {:.0f} % of their time ({} steps)", share, steps);
  return out;
}

std::optional<Trigger> look_memory_pressure(const record::Run& run, Window window, const TriggerInfo& row) {
  return pressure(run, window, row, kMemoryPressure, "memory");
}

std::optional<Trigger> look_io_pressure(const record::Run& run, Window window, const TriggerInfo& row) {
  return pressure(run, window, row, kIoPressure, "storage");
}

std::optional<Trigger> look_rank_skew(const record::Run& run, Window window, const TriggerInfo& row) {
  std::map<std::int32_t, RankSteps> ranks;
  for (const auto& mark : run.marks)
    if (is_step_inside(mark, window)) ranks[mark.rank].length_ns.push_back(mark.end_ns - mark.begin_ns);
  std::erase_if(ranks, [](const auto& rank) { return rank.second.length_ns.size() < kLeastSteps; });
  if (ranks.size() < 2) return std::nullopt;
  std::vector<std::pair<std::int64_t, std::int32_t>> medians;
  for (auto& [rank, steps] : ranks) medians.emplace_back(median_of(steps.length_ns), rank);
  std::ranges::sort(medians);
  const auto [fastest_ns, fastest] = medians.front();
  const auto [slowest_ns, slowest] = medians.back();
  if (fastest_ns <= 0) return std::nullopt;
  const double skew = 100 * (static_cast<double>(slowest_ns) / static_cast<double>(fastest_ns) - 1);
  if (skew <= row.threshold) return std::nullopt;
  auto out = begin_trigger(row, Severity::warning);
  out.value = skew;
  out.time_share = 1;
  out.text = fmt::format("steps of rank {} take {:.0f} % longer than those of rank {} ({:.3g} s and {:.3g} s)", slowest,
                         skew, fastest, static_cast<double>(slowest_ns) * 1e-9, static_cast<double>(fastest_ns) * 1e-9);
  return out;
}

std::vector<record::MetricId> columns_for_job_triggers() { return {kMemoryPressure, kIoPressure}; }

}  // namespace gradwatt::diagnosis
