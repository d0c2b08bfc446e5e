#include "gradwatt/planning/models/power_cap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace gradwatt::planning {
namespace {

enum TimePlace : std::size_t { kFreeTime, kKnee, kStaticShare, kSharpness };
enum PowerPlace : std::size_t { kFollow, kFreePower, kPowerSharpness };

/// What the form may be off between profiled caps (standard deviation): on the flat part, and in addition a share of
/// the slowdown itself on the steep one. Set so that the 90 % interval holds on the Zeus traces.
constexpr double kFlatSpread = 0.02, kSteepSpread = 0.2;
/// Of power; the traces show 1 to 2 %.
constexpr double kPowerFormSpread = 0.015;
/// Below the static draw there is no speed; any small number keeps the logarithm finite.
constexpr double kLeastShare = 1e-3;

/// `cap` and the parameters as shares of the highest cap.
double time_s(std::span<const double> p, double cap) {
  const double idle = p[kKnee] * p[kStaticShare];
  const double share = std::max(kLeastShare, (cap - idle) / (p[kKnee] - idle));
  return p[kFreeTime] * std::pow(1 + std::pow(share, -p[kSharpness]), 1 / p[kSharpness]);
}

double power_w(std::span<const double> p, double cap_w) {
  // In logarithms: 400 W to the power −20 is no double.
  const double capped = std::log(p[kFollow] * cap_w), free = std::log(p[kFreePower]), q = p[kPowerSharpness];
  const double smaller = std::min(capped, free), larger = std::max(capped, free);
  return std::exp(smaller - std::log1p(std::exp(q * (smaller - larger))) / q);
}

core::Result<void> check(std::span<const CapMeasurement> measured) {
  std::set<double> caps;
  for (const auto& m : measured) {
    if (!(m.cap_w > 0 && m.step_s > 0 && m.power_w > 0 && std::isfinite(m.cap_w + m.step_s + m.power_w)))
      return core::fail(core::Errc::unusable_input,
                        fmt::format("a cap of {} W with {} s a step at {} W is no measurement: all must be above zero",
                                    m.cap_w, m.step_s, m.power_w));
    caps.insert(m.cap_w);
  }
  if (caps.size() < 3)
    return core::fail(
        core::Errc::unusable_input,
        fmt::format("{} power caps were profiled; the curve needs three: the highest, about 60 % and about "
                    "45 % of it",
                    caps.size()));
  return {};
}

const CapMeasurement& highest(std::span<const CapMeasurement> measured) {
  return *std::ranges::max_element(measured, {}, &CapMeasurement::cap_w);
}

core::Result<Fit> fit_time(std::span<const CapMeasurement> measured, double scatter) {
  const auto top = highest(measured);
  Problem problem;
  problem.parameters = {{"step time without a cap", "s", top.step_s, 0.05},
                        {"knee", "of the highest cap", 0.6, 0.4, 0.05, 1.5},
                        {"static draw", "of the knee", 0.27, 0.35, 0.01, 0.9},
                        {"sharpness of the knee", "", 5, 0.4, 1, 40}};
  problem.observations = measured.size();
  problem.expected_scatter = scatter;
  problem.scatter_is_known = true;
  problem.residuals = [measured, top](std::span<const double> p, std::span<double> r) {
    for (std::size_t i = 0; i < measured.size(); ++i)
      r[i] = std::log(time_s(p, measured[i].cap_w / top.cap_w) / measured[i].step_s);
  };
  return fit(problem);
}

core::Result<Fit> fit_power(std::span<const CapMeasurement> measured, double scatter) {
  const double most = std::ranges::max_element(measured, {}, &CapMeasurement::power_w)->power_w;
  Problem problem;
  problem.parameters = {{"power under a cap", "of the cap", 1, 0.1, 0.3, 1.5},
                        {"power without a cap", "W", 1.05 * most, 0.5},
                        {"sharpness of the bend", "", 8, 0.8, 1, 60}};
  problem.observations = measured.size();
  problem.expected_scatter = scatter;
  problem.scatter_is_known = true;
  problem.residuals = [measured](std::span<const double> p, std::span<double> r) {
    for (std::size_t i = 0; i < measured.size(); ++i)
      r[i] = std::log(power_w(p, measured[i].cap_w) / measured[i].power_w);
  };
  return fit(problem);
}

std::function<double(std::span<const double>)> slowdown_of(const CapModel& model, double cap_w) {
  return [cap = cap_w / model.highest_w](std::span<const double> p) { return time_s(p, cap) / time_s(p, 1); };
}

double form_spread(const CapModel& model, double cap_w) {
  if (cap_w >= model.highest_w) return 0;
  return std::hypot(kFlatSpread, kSteepSpread * std::log(std::max(1.0, slowdown_of(model, cap_w)(model.time.values))));
}

}  // namespace

core::Result<CapModel> fit_power_cap(std::span<const CapMeasurement> measured, double scatter) {
  if (auto ok = check(measured); !ok) return core::fail(ok.error());
  auto time = fit_time(measured, scatter);
  if (!time) return core::fail(time.error());
  auto power = fit_power(measured, scatter);
  if (!power) return core::fail(power.error());
  return CapModel{std::move(*time), std::move(*power),
                  std::ranges::min_element(measured, {}, &CapMeasurement::cap_w)->cap_w, highest(measured).cap_w};
}

double power_at(const CapModel& model, double cap_w) { return power_w(model.power.values, cap_w); }

double slowdown_at(const CapModel& model, double cap_w) { return slowdown_of(model, cap_w)(model.time.values); }

double step_s_at(const CapModel& model, double cap_w) { return time_s(model.time.values, cap_w / model.highest_w); }

Figure step_s_figure(const CapModel& model, double cap_w) {
  const auto step = [cap = cap_w / model.highest_w](std::span<const double> p) { return time_s(p, cap); };
  return figure_of(model.time, step, form_spread(model, cap_w));
}

double slowdown_spread(const CapModel& model, double cap_w) {
  return std::hypot(spread_of(model.time, slowdown_of(model, cap_w)), form_spread(model, cap_w));
}

Figure slowdown_figure(const CapModel& model, double cap_w) {
  return figure_of(model.time, slowdown_of(model, cap_w), form_spread(model, cap_w));
}

Figure power_figure(const CapModel& model, double cap_w) {
  return figure_of(
      model.power, [cap_w](std::span<const double> p) { return power_w(p, cap_w); }, kPowerFormSpread);
}

std::optional<std::string> gap_of(const CapModel& model, double cap_w) {
  if (cap_w < model.lowest_w)
    return fmt::format(
        "a cap of {} W is below the lowest profiled one, {} W, where no curve can be trusted; profile it", cap_w,
        model.lowest_w);
  if (cap_w > model.highest_w)
    return fmt::format("a cap of {} W is above the highest profiled one, {} W; profile it", cap_w, model.highest_w);
  return std::nullopt;
}

}  // namespace gradwatt::planning
