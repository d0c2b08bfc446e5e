#include "gradwatt/planning/cap_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace gradwatt::planning {
namespace {

/// Below this share of the largest cap energy rises again (Zeus traces: A40 at 33–42 % above the uncapped value).
constexpr double kFloorShare = 0.45;
constexpr double kMiddleShare = 0.6;
/// A cap is chosen when the slowdown stays within the limit at this many spreads above the estimate: five in six.
constexpr double kCaution = 0.5;

double nearest(const std::vector<double>& caps, double wanted) {
  return *std::ranges::min_element(caps, {}, [wanted](double cap) { return std::abs(cap - wanted); });
}

class Search {
 public:
  Search(const CapQuestion& question, const MeasureCap& measure) : question_(question), measure_(measure) {
    caps_ = question.caps_w;
    std::ranges::sort(caps_);
    if (!caps_.empty()) largest_ = caps_.back();
  }

  core::Result<CapChoice> run() {
    if (auto ok = profile(); !ok) return core::fail(ok.error());
    if (draws_less_than_any())
      return uncapped(
          "the load draws less than any cap worth setting; lower clocks save, caps do "
          "not reach it");
    auto first = choose(lowest_);
    if (!first) return core::fail(first.error());
    if (first->cap_w == largest_) return first;
    if (auto ok = look(first->cap_w); !ok) return core::fail(ok.error());
    return after_verification(first->cap_w);
  }

 private:
  core::Result<void> look(double cap_w) {
    auto seen = measure_(cap_w, question_.window_steps);
    if (!seen) return core::fail(seen.error());
    spent_ += question_.window_steps;
    measured_.push_back(*seen);
    return {};
  }

  /// Highest first: the job starts at its full speed, and the yardstick is there early.
  core::Result<void> profile() {
    lowest_ = caps_.empty() ? 0 : nearest(caps_, kFloorShare * largest_);
    const double middle = caps_.empty() ? 0 : nearest(caps_, kMiddleShare * largest_);
    if (!(lowest_ > 0 && lowest_ < middle && middle < largest_))
      return core::fail(core::Errc::wrong_use,
                        fmt::format("choosing a cap needs at least three that may be set between {:.0f} and {:.0f} W",
                                    kFloorShare * largest_, largest_));
    for (const double cap : {largest_, middle, lowest_})
      if (auto ok = look(cap); !ok) return ok;
    return {};
  }

  [[nodiscard]] bool draws_less_than_any() const { return measured_.front().power_w < lowest_; }

  [[nodiscard]] double energy(const CapModel& model, double cap_w, double slowdown) const {
    const double free = power_at(model, largest_) + question_.other_w;
    return slowdown * (power_at(model, cap_w) + question_.other_w) / free;
  }

  /// The fit's estimate; where the cap was verified, its mean with what was seen there.
  [[nodiscard]] double slowdown(const CapModel& model, double cap_w, std::optional<double> verified_w) const {
    const double fitted = slowdown_at(model, cap_w);
    if (verified_w != cap_w) return fitted;
    return std::sqrt(fitted * measured_.back().step_s / measured_.front().step_s);
  }

  /// The cheapest of the caps from `least_w` on that is safely fast enough; the largest always is.
  core::Result<CapChoice> choose(double least_w, std::optional<double> verified_w = {}) {
    const auto model = fit_power_cap(measured_);
    if (!model) return core::fail(model.error());
    CapChoice best = uncapped("no cap is safely within the slowdown limit");
    for (const double cap : caps_) {
      if (cap < least_w || cap == largest_) continue;
      const double slower = slowdown(*model, cap, verified_w);
      if (slower * std::exp(kCaution * slowdown_spread(*model, cap)) > 1 + question_.slowdown_limit) continue;
      if (const double cost = energy(*model, cap, slower); cost < best.energy) {
        best.cap_w = cap;
        best.slowdown = slower;
        best.energy = cost;
        best.reason = fmt::format("{:.0f} W: {:.1f} % less energy a step, steps {:.1f} % longer", cap, 100 * (1 - cost),
                                  100 * (slower - 1));
      }
    }
    return best;
  }

  core::Result<CapChoice> after_verification(double verified_w) {
    auto second = choose(verified_w, verified_w);
    if (!second) return second;
    second->verified = second->cap_w == verified_w;
    if (!second->verified)
      second->reason = fmt::format("{:.0f} W proved too slow, so stepped up: {}", verified_w, second->reason);
    return second;
  }

  [[nodiscard]] CapChoice uncapped(std::string reason) const {
    return {largest_, 1, 1, false, spent_, measured_, std::move(reason)};
  }

  const CapQuestion& question_;
  const MeasureCap& measure_;
  std::vector<double> caps_;
  double lowest_ = 0, largest_ = 0;
  std::vector<CapMeasurement> measured_;  ///< the largest cap first
  int spent_ = 0;
};

}  // namespace

core::Result<CapChoice> choose_cap(const CapQuestion& question, const MeasureCap& measure) {
  return Search(question, measure).run();
}

}  // namespace gradwatt::planning
