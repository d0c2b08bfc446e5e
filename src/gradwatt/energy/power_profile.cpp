#include "gradwatt/energy/power_profile.hpp"

#include <algorithm>
#include <deque>

#include "gradwatt/energy/statistics.hpp"

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;

constexpr std::int64_t kHeld_ns = 5'000'000'000;  // shorter pauses are part of the load's own rhythm
constexpr std::int64_t kHeldReadings = 3;         // fewer could be one pause met by chance
/// A level above this share of the busy level is load, not a base line.
constexpr double kBaseBelowBusy = 0.7;
/// Power is down below this share of the way from base line to load, and up again above the second.
constexpr double kDown = 0.15, kUp = 0.35;

std::int64_t held_ns(const Series& power) { return std::max(kHeld_ns, (kHeldReadings - 1) * power.cadence_ns); }

struct Level {
  double highest = 0;  ///< in it
  double mean = 0;
};

/// Smallest, over all stretches of held_ns inside the window, of the highest reading in the stretch.
std::optional<Level> lowest_held(const Series& power, Window window) {
  const auto t = power.readings.time_ns();
  const auto v = power.readings.values();
  const auto length = held_ns(power);
  std::deque<std::size_t> falling;  // readings of the stretch, each higher than all behind it
  std::size_t begin = power.readings.first_at_or_after(window.begin_ns);
  std::optional<std::pair<std::size_t, std::size_t>> best;
  std::int64_t best_value = 0;
  for (auto i = begin; i < t.size() && t[i] <= window.end_ns; ++i) {
    if (i > begin && t[i] - t[i - 1] > 3 * power.cadence_ns) {  // a gap: nothing held across it is known
      begin = i;
      falling.clear();
    }
    while (!falling.empty() && v[falling.back()] <= v[i]) falling.pop_back();
    falling.push_back(i);
    // The shortest stretch that is long enough and ends here.
    while (begin + 1 < i && t[i] - t[begin + 1] >= length) ++begin;
    while (falling.front() < begin) falling.pop_front();
    if (t[i] - t[begin] < length || static_cast<std::int64_t>(i - begin) + 1 < kHeldReadings) continue;
    if (!best || v[falling.front()] < best_value) {
      best_value = v[falling.front()];
      best = {begin, i};
    }
  }
  if (!best) return std::nullopt;
  double sum = 0;
  for (auto i = best->first; i <= best->second; ++i) sum += static_cast<double>(v[i]);
  return Level{static_cast<double>(best_value) * power.step(),
               sum / static_cast<double>(best->second - best->first + 1) * power.step()};
}

std::optional<double> level_before(const Series& power, Window job) {
  const auto t = power.readings.time_ns();
  if (t.front() >= job.begin_ns) return std::nullopt;
  const auto before = statistics_of(power, {t.front(), job.begin_ns});
  if (!before || before->covered_s < static_cast<double>(held_ns(power)) * kSecondsPerNanosecond) return std::nullopt;
  return before->mean;
}

std::optional<Series> power_of(const record::Run& run, record::DeviceIndex device) {
  switch (run.device(device).kind) {
    case DeviceKind::gpu:
      for (const auto id : {metric(DeviceKind::gpu, "power_inst"), metric(DeviceKind::gpu, "power_avg")})
        if (auto power = open_series(run, device, id)) return power;
      if (const auto counter = open_series(run, device, metric(DeviceKind::gpu, "energy")))
        return power_from(*counter, metric(DeviceKind::gpu, "power_avg"));
      return std::nullopt;
    case DeviceKind::cpu:
      if (auto power = open_series(run, device, metric(DeviceKind::cpu, "power"))) return power;
      if (const auto counter = open_series(run, device, metric(DeviceKind::cpu, "energy")))
        return power_from(*counter, metric(DeviceKind::cpu, "power"));
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<PowerProfile> profile_of(const record::Run& run, record::DeviceIndex device, Window job) {
  const auto power = power_of(run, device);
  if (!power) return std::nullopt;
  const auto holding = hold(*power, job);
  const auto levels = statistics_of(*power, job, holding);
  if (!levels || levels->mean <= 0) return std::nullopt;
  PowerProfile out{.device = device};
  const auto* samples = run.find_series(device);
  if (samples->find(power->metric) != nullptr) out.metric = power->metric;
  out.mean_w = levels->mean;
  out.p5_w = levels->p5;
  out.p95_w = levels->p95;
  out.swing = (levels->p95 - levels->p5) / levels->mean;
  out.stability = std::max(0.0, 1 - deviation_of(*power, holding).value_or(0) / levels->mean);
  out.idle_w = idle_level(*power, job, levels->p95);
  if (out.idle_w) out.falls_to_base = count_falls(*power, job, *out.idle_w, levels->p95);
  return out;
}

}  // namespace

std::optional<double> idle_level(const Series& power, Window job, double busy_level) {
  if (const auto before = level_before(power, job)) return before;
  const auto held = lowest_held(power, job);
  if (!held || held->highest > kBaseBelowBusy * busy_level) return std::nullopt;
  return held->mean;
}

std::int64_t count_falls(const Series& power, Window job, double idle_level, double busy_level) {
  if (idle_level > kBaseBelowBusy * busy_level) return 0;
  const auto t = power.readings.time_ns();
  const auto v = power.readings.values();
  const double down = (idle_level + kDown * (busy_level - idle_level)) / power.step();
  const double up = (idle_level + kUp * (busy_level - idle_level)) / power.step();
  bool was_busy = false, fell = false;
  std::int64_t falls = 0;
  for (auto i = power.readings.first_at_or_after(job.begin_ns); i < t.size() && t[i] <= job.end_ns; ++i) {
    const auto level = static_cast<double>(v[i]);
    if (level >= up) {
      if (fell) ++falls;
      fell = false;
      was_busy = true;
    } else if (level <= down && was_busy) {
      fell = true;
    }
  }
  return falls;
}

std::vector<PowerProfile> power_profiles(const record::Run& run, Window job) {
  std::vector<PowerProfile> out;
  for (const auto& samples : run.series)
    if (auto profile = profile_of(run, samples.device, job)) out.push_back(*profile);
  return out;
}

}  // namespace gradwatt::energy
