#include "gradwatt/planning/hardware/power_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradwatt::planning {
namespace {

using energy::PowerProfile;
using enum PowerAdviceKind;

/// Below 45–50 % of the maximum energy rises again in Zeus' traces; the upper end is the safe one.
constexpr double kFloorShare = 0.5;
/// Caps to profile, of the highest limit: enough for the cap model, which has three parameters.
constexpr double kMiddleCap = 0.65;
/// Zeus' light workload (NCF) drew 35–90 W of 250: it did not respond to any cap.
constexpr double kLightShare = 0.35;
/// A GPU that claims to be busy at less than half of its limit waits or is far from its knee.
constexpr double kLowShare = 0.5;
constexpr double kBusy = 0.9;
/// A fifth of each step: as in roofline.cpp, more than any cap can gain.
constexpr double kWaits = 0.2;
/// p5 to p95 spanning this share of the mean is a swing. The articles' A100 of 100–300 W spans 1.0, their H100 of
/// 200–250 W spans 0.22.
constexpr double kSwing = 0.5;

double round_to(double watts, double step) { return std::round(watts / step) * step; }

std::string shape_of(const PowerProfile& p, double limit_w) {
  auto text = fmt::format("{:.0f} W on average, {:.0f}–{:.0f} W most of the time, limit {:.0f} W", p.mean_w, p.p5_w,
                          p.p95_w, limit_w);
  if (p.idle_w) text += fmt::format("; base line {:.0f} W, fallen back to {} times", *p.idle_w, p.falls_to_base);
  return text;
}

std::string wait_words(const PowerSituation& s) {
  const double data = s.data_wait_share.value_or(0), others = s.comm_exposed_share.value_or(0);
  if (std::max(data, others) >= kWaits)
    return fmt::format("{:.0f} % of a step waits for {}", 100 * std::max(data, others),
                       data >= others ? "its batch" : "other ranks");
  if (s.profile->falls_to_base > 0 && s.profile->swing >= kSwing)
    return "power keeps falling to the base line and rising again";
  return "";
}

bool is_low(const PowerSituation& s, double limit_w) {
  return s.profile->mean_w < kLowShare * limit_w && s.utilization_share.value_or(0) >= kBusy;
}

PowerAdvice repair(std::string wait, PowerAdvice out) {
  out.kind = repair_wait;
  out.finding += "; " + wait;
  out.advice =
      "first repair what it waits for (`gradwatt diagnose`): that gains more than any cap, and a cap does not smooth "
      "such "
      "swings. Until then lower clocks cost next to nothing: four A40 waiting for data lost at most 3.5 % of speed at "
      "any "
      "cap and saved 21 % of GPU energy (Zeus traces). Under Slurm `--gpu-freq=medium` sets clocks without root where "
      "the site allows it";
  return out;
}

PowerAdvice clocks(PowerAdvice out) {
  out.kind = lower_clocks;
  out.finding += "; busy by its own account, at less than half of its limit";
  out.advice =
      "a cap above the draw does nothing; find out why it draws so little (`gradwatt diagnose`): memory-bound and "
      "small models are so by nature. If so, lower clocks save more than caps far below the limit; try them with "
      "`--gpu-freq` under Slurm and `gradwatt compare`";
  return out;
}

PowerAdvice caps(double limit_w, PowerAdvice out, const PowerProfile& p, const catalog::GpuRow& gpu) {
  const double most = catalog::value_of(gpu.power.max_w).value_or(limit_w);
  out.kind = try_caps;
  out.caps_w = {limit_w};
  for (const double cap : {std::max(out.floor_w, round_to(kMiddleCap * most, 5)), out.floor_w})
    if (cap < std::min(out.caps_w.back(), p.p95_w)) out.caps_w.push_back(cap);
  if (out.caps_w.size() < 2) {
    out.kind = none;
    out.caps_w.clear();
    out.advice =
        fmt::format("no cap can help: the lowest worth a trial, {:.0f} W, lies above what it draws", out.floor_w);
    return out;
  }
  std::string tried;
  for (const double cap : out.caps_w) tried += fmt::format("{}{:.0f}", tried.empty() ? "" : ", ", cap);
  out.advice = fmt::format(
      "measure at {} W (interleaved runs, `gradwatt compare`), the same on every GPU of the job; the best cap lies "
      "between them, never below {:.0f} W. With 5 % more time allowed 7–12 % of GPU energy were saved in the median "
      "(Zeus traces; V100, A40, RTX 6000, P100), less of a whole node's. Setting a cap needs root or the site's own "
      "option",
      tried, out.floor_w);
  return out;
}

}  // namespace

std::optional<double> cap_floor_w(const catalog::GpuRow& gpu) {
  const auto most = gpu.power.max_w ? gpu.power.max_w : gpu.power.default_w;
  if (!most) return std::nullopt;
  return std::max(kFloorShare * most->value, catalog::value_of(gpu.power.min_w).value_or(0));
}

PowerAdvice advise_power(const PowerSituation& situation, const catalog::GpuRow& gpu) {
  PowerAdvice out;
  const auto& limit = catalog::power_limit(gpu);
  const auto floor = cap_floor_w(gpu);
  if (!situation.profile || !limit || !floor) {
    out.advice = !situation.profile
                     ? "the GPU's power over time was not measured: `gradwatt run` on a machine with NVML"
                     : fmt::format("the power limit of {} is not known: `gradwatt doctor` there", gpu.name);
    return out;
  }
  const auto& profile = *situation.profile;
  const double limit_w = limit->value;
  out.floor_w = *floor;
  out.finding = shape_of(profile, limit_w);
  if (auto wait = wait_words(situation); !wait.empty()) return repair(std::move(wait), std::move(out));
  if (is_low(situation, limit_w)) return clocks(std::move(out));
  if (profile.p95_w < kLightShare * limit_w) {
    out.kind = none;
    out.advice =
        "so light a load does not respond to caps: their effect was smaller than the noise (NCF in Zeus' traces, "
        "35–90 W). Fewer GPUs, or several jobs a GPU, save more";
    return out;
  }
  return caps(limit_w, std::move(out), profile, gpu);
}

}  // namespace gradwatt::planning
