// What a GPU's own readings show: busy without drawing power, clocks held, idle in mid-run.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>

#include "gradwatt/core/text.hpp"
#include "gradwatt/diagnosis/trigger_functions.hpp"
#include "gradwatt/diagnosis/window_figures.hpp"

namespace gradwatt::diagnosis {
namespace {

using energy::Window;
using record::DeviceIndex;
using record::DeviceKind;
using record::metric;

constexpr auto kBusy = metric(DeviceKind::gpu, "utilization");
constexpr auto kPowerAverage = metric(DeviceKind::gpu, "power_avg");
constexpr auto kPowerInstant = metric(DeviceKind::gpu, "power_inst");
constexpr auto kLimit = metric(DeviceKind::gpu, "power_limit_enforced");
constexpr auto kLimitAsked = metric(DeviceKind::gpu, "power_limit_requested");
constexpr auto kReasons = metric(DeviceKind::gpu, "clock_event_reasons");
constexpr auto kHeldSoftware = metric(DeviceKind::gpu, "held_sw_thermal");
constexpr auto kHeldHardware = metric(DeviceKind::gpu, "held_hw_thermal");
constexpr auto kHeldBrake = metric(DeviceKind::gpu, "held_power_brake");

constexpr double kBusy_pct = 90;                      // the articles' sign of a GPU that claims to be fully used
constexpr std::int64_t kStretch_ns = 30'000'000'000;  // long enough to be no pause between two epochs
constexpr double kStretchCovered = 0.8;
constexpr double kLongShare = 0.1;  // a tenth of the window is worth a warning, less a note

/// NVML's clock event reasons.
constexpr std::int64_t kThermalBits = 0x20 | 0x40;
constexpr std::int64_t kBrakeBit = 0x80;

/// What one GPU shows.
struct Hit {
  DeviceIndex device{};
  double value = 0;    ///< in the row's unit
  double seconds = 0;  ///< that it held
  std::string text;
};

std::vector<DeviceIndex> gpus_of(const record::Run& run) {
  std::vector<DeviceIndex> out;
  for (std::uint32_t i = 0; i < run.devices.size(); ++i)
    if (run.devices[i].kind == DeviceKind::gpu) out.push_back(static_cast<DeviceIndex>(i));
  return out;
}

std::string duration(double seconds) {
  return core::format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

using LookAtGpu = std::function<std::optional<Hit>(DeviceIndex)>;

/// One trigger for all GPUs: the figures of the one that shows it longest, and how many show it.
std::optional<Trigger> over_gpus(const record::Run& run, Window window, const TriggerInfo& row, Severity strongest,
                                 const LookAtGpu& look) {
  const auto gpus = gpus_of(run);
  std::optional<Hit> worst;
  std::size_t hits = 0;
  for (const auto gpu : gpus) {
    auto hit = look(gpu);
    if (!hit) continue;
    ++hits;
    if (!worst || hit->seconds > worst->seconds) worst = std::move(hit);
  }
  if (!worst) return std::nullopt;
  const double share = window.empty() ? 0 : std::min(1.0, worst->seconds / window.seconds());
  auto out = begin_trigger(row, share >= kLongShare ? strongest : Severity::note);
  out.device = worst->device;
  out.value = worst->value;
  out.time_share = share;
  out.text = fmt::format("{} ({} of {} GPU{}, {} of {})", worst->text, hits, gpus.size(), gpus.size() == 1 ? "" : "s",
                         duration(worst->seconds), duration(window.seconds()));
  return out;
}

std::optional<double> limit_in(const record::Run& run, DeviceIndex gpu, Window window) {
  if (const auto level = level_in(run, gpu, kLimit, window)) return level->mean;
  const auto& attributes = run.device(gpu).attributes;
  const auto it = attributes.find("power_limit_enforced_w");
  if (it == attributes.end()) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(it->second.data(), it->second.data() + it->second.size(), value);
  return error == std::errc() && value > 0 ? std::optional(value) : std::nullopt;
}

/// Stretches of 30 s in which the GPU was busy and its power low; figures are means over these.
std::optional<Hit> busy_low_power(const record::Run& run, DeviceIndex gpu, Window window, const TriggerInfo& row) {
  const auto busy = energy::open_series(run, gpu, kBusy);
  auto power = energy::open_series(run, gpu, kPowerAverage);
  if (!power) power = energy::open_series(run, gpu, kPowerInstant);
  if (!busy || !power) return std::nullopt;
  double busy_sum = 0, share_sum = 0, seconds = 0;
  for (auto begin = window.begin_ns; begin + kStretch_ns <= window.end_ns; begin += kStretch_ns) {
    const Window stretch{begin, begin + kStretch_ns};
    const auto use = level_in(*busy, stretch);
    if (!use || use->mean <= kBusy_pct || use->covered_s < kStretchCovered * stretch.seconds()) continue;
    const auto drawn = level_in(*power, stretch);
    const auto limit = limit_in(run, gpu, stretch);
    if (!drawn || !limit || *limit <= 0 || drawn->covered_s < kStretchCovered * stretch.seconds()) continue;
    const double share = 100 * drawn->mean / *limit;
    if (share >= row.threshold) continue;
    busy_sum += use->mean * stretch.seconds();
    share_sum += share * stretch.seconds();
    seconds += stretch.seconds();
  }
  if (seconds <= 0) return std::nullopt;
  const double share = share_sum / seconds;
  return Hit{gpu, share, seconds, fmt::format("busy {:.0f} %, power {:.0f} % of the limit", busy_sum / seconds, share)};
}

/// Time that reasons of the mask held the clocks, from the state's readings.
std::optional<double> held_by_bits_s(const record::Run& run, DeviceIndex gpu, std::int64_t mask, Window window) {
  const auto reasons = energy::open_series(run, gpu, kReasons);
  if (!reasons) return std::nullopt;
  const auto t = reasons->readings.time_ns();
  const auto v = reasons->readings.values();
  double held = 0;
  std::size_t i = reasons->readings.first_at_or_after(window.begin_ns);
  for (; i + 1 < t.size() && t[i + 1] <= window.end_ns; ++i)
    if ((v[i] & mask) != 0 && (v[i + 1] & mask) != 0) held += Window{t[i], t[i + 1]}.seconds();
  return held;
}

/// Counters of held time come first: they see what happens between two readings.
std::optional<Hit> held(const record::Run& run, DeviceIndex gpu, std::initializer_list<record::MetricId> counters,
                        std::int64_t mask, Window window, const TriggerInfo& row, std::string_view by) {
  double seconds = 0;
  bool known = false;
  for (const auto counter : counters)
    if (const auto growth = growth_in(run, gpu, counter, window)) {
      seconds = std::max(seconds, growth->amount);
      known = true;
    }
  if (!known) seconds = held_by_bits_s(run, gpu, mask, window).value_or(0);
  const double share = window.empty() ? 0 : 100 * seconds / window.seconds();
  if (share <= row.threshold) return std::nullopt;
  return Hit{gpu, share, seconds, fmt::format("clocks held by {} {:.0f} % of the time", by, share)};
}

constexpr double kIdle_pct = 5;  // below: nothing runs but a stray kernel
constexpr double kWasBusy_pct = 50;

std::optional<Hit> longest_idle(const record::Run& run, DeviceIndex gpu, Window window, const TriggerInfo& row) {
  const auto busy = energy::open_series(run, gpu, kBusy);
  if (!busy) return std::nullopt;
  const auto t = busy->readings.time_ns();
  const auto v = busy->readings.values();
  bool was_busy = false;
  std::optional<std::int64_t> since;
  double longest = 0;
  for (auto i = busy->readings.first_at_or_after(window.begin_ns); i < t.size() && t[i] <= window.end_ns; ++i) {
    const double use = static_cast<double>(v[i]) * busy->step();
    was_busy = was_busy || use >= kWasBusy_pct;
    if (!was_busy || use > kIdle_pct) {
      since.reset();
      continue;
    }
    if (!since) since = t[i];
    longest = std::max(longest, Window{*since, t[i]}.seconds());
  }
  if (longest < row.threshold) return std::nullopt;
  return Hit{gpu, longest, longest, fmt::format("idle for {} in mid-run", duration(longest))};
}

std::optional<Hit> limit_lowered(const record::Run& run, DeviceIndex gpu, Window window, const TriggerInfo& row) {
  const auto asked = level_in(run, gpu, kLimitAsked, window);
  const auto enforced = level_in(run, gpu, kLimit, window);
  if (!asked || !enforced || asked->mean <= 0) return std::nullopt;
  const double below = 100 * (1 - enforced->mean / asked->mean);
  if (below <= row.threshold) return std::nullopt;
  return Hit{gpu, below, enforced->covered_s,
             fmt::format("power limit {:.0f} W in force, {:.0f} W asked for", enforced->mean, asked->mean)};
}

}  // namespace

std::optional<Trigger> look_busy_low_power(const record::Run& run, Window window, const TriggerInfo& row) {
  return over_gpus(run, window, row, Severity::warning,
                   [&](DeviceIndex gpu) { return busy_low_power(run, gpu, window, row); });
}

std::optional<Trigger> look_held_thermal(const record::Run& run, Window window, const TriggerInfo& row) {
  return over_gpus(run, window, row, Severity::warning, [&](DeviceIndex gpu) {
    return held(run, gpu, {kHeldSoftware, kHeldHardware}, kThermalBits, window, row, "thermal slowdown");
  });
}

std::optional<Trigger> look_held_power_brake(const record::Run& run, Window window, const TriggerInfo& row) {
  auto out = over_gpus(run, window, row, Severity::alarm, [&](DeviceIndex gpu) {
    return held(run, gpu, {kHeldBrake}, kBrakeBit, window, row, "the external power brake");
  });
  // The supply or the rack pulled it: never a small matter.
  if (out) out->severity = Severity::alarm;
  return out;
}

std::optional<Trigger> look_gpu_idle(const record::Run& run, Window window, const TriggerInfo& row) {
  return over_gpus(run, window, row, Severity::warning,
                   [&](DeviceIndex gpu) { return longest_idle(run, gpu, window, row); });
}

std::optional<Trigger> look_limit_lowered(const record::Run& run, Window window, const TriggerInfo& row) {
  return over_gpus(run, window, row, Severity::note,
                   [&](DeviceIndex gpu) { return limit_lowered(run, gpu, window, row); });
}

std::vector<record::MetricId> columns_for_gpu_triggers() {
  return {kBusy, kPowerAverage, kPowerInstant, kLimit, kLimitAsked, kReasons, kHeldSoftware, kHeldHardware, kHeldBrake};
}

}  // namespace gradwatt::diagnosis
