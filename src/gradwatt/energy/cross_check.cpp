#include "gradwatt/energy/cross_check.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;

constexpr double kLeastWindow_s = 60;
constexpr double kWarning = 0.02;  // relative; both sources read the same shunt, so more than 1 % needs a reason
constexpr double kSuspect = 0.05;
/// A power reading that sees less than this share of the time samples the load instead of following it.
constexpr double kLeastDuty = 0.5;
constexpr double kAverageWindow_s = 1.0;

struct PowerChoice {
  std::optional<Series> series;
  std::string reason;  ///< why a series that exists cannot judge
};

PowerChoice choose_power(const record::Run& run, record::DeviceIndex device) {
  switch (run.device(device).kind) {
    case DeviceKind::cpu:
      return {open_series(run, device, metric(DeviceKind::cpu, "power")), {}};
    case DeviceKind::dram:
      return {open_series(run, device, metric(DeviceKind::dram, "power")), {}};
    case DeviceKind::node:
      return {open_series(run, device, metric(DeviceKind::node, "power")), {}};
    case DeviceKind::gpu:
      break;
    default:
      return {};
  }
  if (auto average = open_series(run, device, metric(DeviceKind::gpu, "power_avg"))) return {std::move(average), {}};
  auto instant = open_series(run, device, metric(DeviceKind::gpu, "power_inst"));
  const auto duty = instant && instant->quality != nullptr ? instant->quality->duty : std::nullopt;
  if (duty.value_or(1) < kLeastDuty)
    return {std::move(instant),
            fmt::format("its only power reading sees {:.0f} % of the time and has no average beside it", 100 * *duty)};
  return {std::move(instant), {}};
}

double stated(const Series& series) { return series.quality != nullptr ? series.quality->uncertainty.value_or(0) : 0; }

double sampling_doubt(const Series& power, const IntegratedEnergy& integrated, double counter_j) {
  double doubt_j = integrated.sampling_j.value_or(0);
  // A trailing average that is read before it forgets follows the load without random error, but a second late.
  const bool average = record::info(power.metric).name == "power_avg";
  const double edges_j = average ? integrated.edge_step_w * kAverageWindow_s : 0;
  if (average && static_cast<double>(power.cadence_ns) * kSecondsPerNanosecond < 1.5 * kAverageWindow_s) doubt_j = 0;
  doubt_j = std::hypot(doubt_j, edges_j);
  return counter_j > 0 ? doubt_j / counter_j : 0;
}

CrossCheck::Verdict judge(double difference, double allowed) {
  const double size = std::abs(difference);
  if (size <= allowed || size <= kWarning) return CrossCheck::Verdict::agrees;
  return size > kSuspect ? CrossCheck::Verdict::suspect : CrossCheck::Verdict::warning;
}

void compare(CrossCheck& out, const Measured& device, const Series& power, Window job) {
  if (device.series->quality != nullptr && device.series->quality->resets > 0) {
    out.reason = "the counter began again in between, so part of its energy is unknown";
    return;
  }
  const auto whole = counter_energy(*device.series, job, device.reset_ns);
  const auto covered = whole ? integrate(power, whole->covered) : std::nullopt;
  if (!covered) {
    out.reason = "counter and power share no time";
    return;
  }
  double edges_j = 0;
  for (const auto& piece : covered->pieces) {
    const auto part = counter_energy(*device.series, piece, device.reset_ns);
    // The two must count the same time: a piece whose edges the counter does not reach is integrated only as far.
    const auto same = part ? integrate(power, part->covered) : std::nullopt;
    if (!same) continue;
    out.counter_j += part->energy_j;
    out.integrated_j += same->energy_j;
    out.window_s += part->covered_s;
    edges_j = std::hypot(edges_j, part->edges_j);
  }
  if (out.counter_j <= 0) {
    out.reason = "the counter did not move while power was read";
    return;
  }
  out.difference = (out.integrated_j - out.counter_j) / out.counter_j;
  out.allowed = std::hypot(std::hypot(stated(*device.series), stated(power)),
                           std::hypot(sampling_doubt(power, *covered, out.counter_j), edges_j / out.counter_j));
  if (out.window_s < kLeastWindow_s)
    out.reason = fmt::format("counter and power share {:.0f} s, less than {:.0f} s", out.window_s, kLeastWindow_s);
}

}  // namespace

std::vector<CrossCheck> cross_check(const record::Run& run, const std::vector<Measured>& devices, Window job) {
  std::vector<CrossCheck> out;
  for (const auto& device : devices) {
    if (!device.by_counter() || device.whole_module() || device.figure.how >= record::How::modelled) continue;
    const auto power = choose_power(run, device.figure.device);
    if (!power.series) continue;
    CrossCheck check{.device = device.figure.device};
    compare(check, device, *power.series, job);
    if (!power.reason.empty()) check.reason = power.reason;
    if (check.reason.empty()) check.verdict = judge(check.difference, check.allowed);
    out.push_back(std::move(check));
  }
  return out;
}

}  // namespace gradwatt::energy
