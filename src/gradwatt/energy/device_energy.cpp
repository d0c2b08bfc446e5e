#include "gradwatt/energy/device_energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;

/// A counter that saw less than this part of what power saw was lost on the way: power tells more.
constexpr double kCounterMustSee = 0.5;
/// NVML's averaged power trails by the second that it averages over.
constexpr double kAverageWindow_s = 1.0;
/// Uncovered time below this is rounding.
constexpr double kNoTime_s = 1e-6;

constexpr std::array kGpu{metric(DeviceKind::gpu, "energy"),           metric(DeviceKind::gpu, "energy_slice"),
                          metric(DeviceKind::gpu, "power_avg"),        metric(DeviceKind::gpu, "power_inst"),
                          metric(DeviceKind::gpu, "energy_module"),    metric(DeviceKind::gpu, "power_module_avg"),
                          metric(DeviceKind::gpu, "power_module_inst")};
constexpr std::array kModule{metric(DeviceKind::gpu, "energy_module"), metric(DeviceKind::gpu, "power_module_avg"),
                             metric(DeviceKind::gpu, "power_module_inst")};
constexpr std::array kCpu{metric(DeviceKind::cpu, "energy"), metric(DeviceKind::cpu, "power")};
constexpr std::array kDram{metric(DeviceKind::dram, "energy"), metric(DeviceKind::dram, "power")};
constexpr std::array kNode{metric(DeviceKind::node, "energy"), metric(DeviceKind::node, "power")};

struct Attempt {
  double energy_j = 0, covered_s = 0;
  Spread spread;
  std::string contains;
  std::vector<std::int64_t> reset_ns;
  std::string why_not;  ///< reason when it cannot be used
};

bool is_counter(record::MetricId id) { return record::info(id).type == record::MetricType::counter; }

record::How how_of(const Series& series) {
  const auto least = is_counter(series.metric) ? record::How::counter : record::How::integrated;
  return series.quality != nullptr ? std::max(series.quality->how, least) : least;
}

void say(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

/// What the source itself states: the gain of a sensor, the range of a model.
void add_stated(Attempt& attempt, const Series& series) {
  if (series.quality == nullptr) return;
  const auto& quality = *series.quality;
  if (quality.range_low || quality.range_high) {
    attempt.spread.lean_low_j += attempt.energy_j * std::max(0.0, 1 - quality.range_low.value_or(1));
    attempt.spread.lean_high_j += attempt.energy_j * std::max(0.0, quality.range_high.value_or(1) - 1);
    attempt.spread.known = true;
    say(attempt.contains, "range of the model");
  }
  if (quality.uncertainty) {
    attempt.spread.lean_low_j += attempt.energy_j * *quality.uncertainty;
    attempt.spread.lean_high_j += attempt.energy_j * *quality.uncertainty;
    attempt.spread.known = true;
    say(attempt.contains, fmt::format("sensor ±{:g} %", 100 * *quality.uncertainty));
  }
}

/// The counter's last change lies up to one update before each edge: at most mean power × update, independent at
/// both edges, so that their difference stays inside that bound.
void add_edges(Attempt& attempt, const Series& series, double interpolated_j) {
  const double update_s = series.quality != nullptr && series.quality->update_ns
                              ? static_cast<double>(*series.quality->update_ns) * kSecondsPerNanosecond
                              : 0;
  if (update_s > 0 && attempt.covered_s > 0)
    attempt.spread.random_j = std::hypot(attempt.spread.random_j, attempt.energy_j / attempt.covered_s * update_s);
  attempt.spread.random_j = std::hypot(attempt.spread.random_j, interpolated_j);
  if (update_s <= 0 && interpolated_j <= 0) return;
  attempt.spread.known = true;
  say(attempt.contains, "counter edges");
}

Attempt try_counter(const record::Run& run, const Series& counter, Window job) {
  Attempt out{.reset_ns = resets_of(run, counter)};
  const auto energy = counter_energy(counter, on_edge_readings(counter, job), out.reset_ns);
  if (!energy) return {.why_not = "its energy counter was read only once while the job ran"};
  // A counter that stands still is no measurement of zero: the run was shorter than one update, or it does not work.
  if (energy->energy_j <= 0) return {.why_not = "its energy counter did not move while the job ran"};
  out.energy_j = energy->energy_j;
  const auto resets_in_events = out.reset_ns.size();
  const auto resets = counter.quality != nullptr ? counter.quality->resets : 0;
  // Resets whose moment is not known cost one reading's distance each.
  const double unplaced_s = static_cast<double>(resets - std::min<std::uint64_t>(resets, resets_in_events)) *
                            static_cast<double>(counter.cadence_ns) * kSecondsPerNanosecond;
  out.covered_s = std::max(0.0, energy->covered_s - unplaced_s);
  add_edges(out, counter, energy->edges_j);
  add_stated(out, counter);
  return out;
}

std::string_view sampling_basis(record::Sampling sampling) {
  return sampling == record::Sampling::stratified
             ? "sampling at random instants"
             : "spread of neighbouring readings (a load in step with them is not seen)";
}

Attempt try_power(const Series& power, Window job) {
  const auto energy = integrate(power, job);
  if (!energy) return {.why_not = "its power was read too rarely while the job ran"};
  Attempt out{.energy_j = energy->energy_j, .covered_s = energy->covered_s};
  // A model's range says more than the scatter of its input.
  if (how_of(power) != record::How::modelled && energy->sampling_j) {
    out.spread.random_j = *energy->sampling_j;
    out.spread.known = true;
    say(out.contains, sampling_basis(power.sampling));
  }
  const auto name = record::info(power.metric).name;
  if (name == "power_avg" || name == "power_module_avg")
    out.spread.random_j = std::hypot(out.spread.random_j, energy->edge_step_w * kAverageWindow_s);
  add_stated(out, power);
  return out;
}

Attempt attempt(const record::Run& run, const Series& series, Window job) {
  return is_counter(series.metric) ? try_counter(run, series, job) : try_power(series, job);
}

void take(Measured& out, Series series, Attempt attempt, Window job) {
  auto& figure = out.figure;
  figure.metric = series.metric;
  figure.energy_j = attempt.energy_j;
  out.covered_s = attempt.covered_s;
  if (attempt.covered_s > 0) figure.power_avg_w = attempt.energy_j / attempt.covered_s;
  figure.how = how_of(series);
  if (series.quality != nullptr) figure.where = series.quality->where;
  const double duration_s = job.seconds();
  figure.coverage = duration_s > 0 ? std::min(1.0, attempt.covered_s / duration_s) : 0;
  const double uncovered_s = duration_s - attempt.covered_s;
  if (uncovered_s > kNoTime_s && figure.power_avg_w) figure.estimated_j = *figure.power_avg_w * uncovered_s;
  if (const auto ends = interval(attempt.energy_j, attempt.spread)) {
    figure.low_j = ends->first;
    figure.high_j = ends->second;
    figure.interval_contains = std::move(attempt.contains);
  }
  figure.why_not.clear();
  out.spread = attempt.spread;
  out.reset_ns = std::move(attempt.reset_ns);
  out.series = std::move(series);
}

std::string no_series(const record::Device& device, bool has_candidates) {
  if (has_candidates) return "its readings failed while the job ran";
  return device.kind == DeviceKind::gpu ? "the record holds neither energy nor power of it"
                                        : "no source of its energy could be read";
}

}  // namespace

bool Measured::whole_module() const {
  if (!series) return false;
  if (std::ranges::find(kModule, series->metric) != kModule.end()) return true;
  return series->quality != nullptr && series->quality->scope == "module";
}

std::vector<record::MetricId> energy_candidates(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return {kGpu.begin(), kGpu.end()};
    case DeviceKind::cpu:
      return {kCpu.begin(), kCpu.end()};
    case DeviceKind::dram:
      return {kDram.begin(), kDram.end()};
    case DeviceKind::node:
      return {kNode.begin(), kNode.end()};
    default:
      return {};
  }
}

Measured measure(const record::Run& run, record::DeviceIndex device, Window job) {
  Measured out;
  out.figure.device = device;
  out.figure.where = run.where();
  std::string first_reason;
  for (const auto id : energy_candidates(run.device(device).kind)) {
    out.has_candidates = out.has_candidates || run.find_quality(device, id) != nullptr;
    auto series = open_series(run, device, id);
    if (!series) continue;
    out.has_candidates = true;
    auto tried = attempt(run, *series, job);
    if (!tried.why_not.empty()) {
      if (first_reason.empty()) first_reason = tried.why_not;
      continue;
    }
    const bool first = !out.series;
    const bool sees_far_more = !first && out.by_counter() && !is_counter(id) && !out.whole_module() &&
                               out.covered_s < kCounterMustSee * tried.covered_s;
    const bool module_only = std::ranges::find(kModule, id) != kModule.end();
    if (first || (sees_far_more && !module_only)) take(out, std::move(*series), std::move(tried), job);
  }
  if (!out.series)
    out.figure.why_not = first_reason.empty() ? no_series(run.device(device), out.has_candidates) : first_reason;
  return out;
}

std::optional<PartEnergy> energy_within(const Measured& device, Window window) {
  if (!device.series) return std::nullopt;
  if (device.by_counter()) {
    const auto part = counter_energy(*device.series, window, device.reset_ns);
    if (!part) return std::nullopt;
    return PartEnergy{part->energy_j, part->covered_s, part->edges_j};
  }
  const auto part = integrate(*device.series, window);
  if (!part) return std::nullopt;
  return PartEnergy{part->energy_j, part->covered_s, part->sampling_j.value_or(part->energy_j)};
}

std::int64_t resolution_ns(const Measured& device) {
  if (!device.series) return 0;
  const auto* quality = device.series->quality;
  const auto update = quality != nullptr ? quality->update_ns.value_or(0) : 0;
  return std::max(update, device.series->cadence_ns);
}

std::string short_name(const record::Device& device) {
  const auto numbered = [&](std::string_view word) {
    return device.index >= 0 ? fmt::format("{} {}", word, device.index) : std::string(word);
  };
  switch (device.kind) {
    case DeviceKind::gpu:
      return numbered("GPU");
    case DeviceKind::cpu:
      return numbered("CPU");
    case DeviceKind::dram:
      return numbered("RAM");
    case DeviceKind::node:
      return "node";
    default:
      return device.name.empty() ? std::string(record::name_of(device.kind)) : device.name;
  }
}

}  // namespace gradwatt::energy
