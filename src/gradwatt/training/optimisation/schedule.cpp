#include "gradwatt/training/optimisation/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "gradwatt/core/text.hpp"

namespace gradwatt::training {
namespace {

constexpr std::array<std::string_view, 4> kNames{"constant", "plateau", "cosine", "multistep"};
/// A change of the rate below this is none (PyTorch's eps).
constexpr double kSmallestChange = 1e-8;

}  // namespace

std::vector<std::string_view> schedule_names() { return {kNames.begin(), kNames.end()}; }

core::Result<Schedule> Schedule::create(const ScheduleSpec& spec, std::int64_t global_batch, std::int64_t epochs) {
  if (std::ranges::find(kNames, spec.name) == kNames.end()) {
    const auto nearest = core::nearest(spec.name, kNames);
    return core::fail(core::Errc::wrong_use,
                      fmt::format("there is no schedule '{}'; {}", spec.name,
                                  nearest ? fmt::format("did you mean '{}'?", *nearest)
                                          : fmt::format("there are {}", fmt::join(kNames, ", "))));
  }
  if (!(spec.rate > 0))
    return core::fail(core::Errc::wrong_use, fmt::format("learning rate {} must be above 0", spec.rate));
  if (spec.warmup_epochs < 0)
    return core::fail(core::Errc::wrong_use, fmt::format("warm-up of {} epochs makes no sense", spec.warmup_epochs));
  Schedule schedule;
  schedule.spec_ = spec;
  const double scaling =
      spec.reference_batch > 0 ? static_cast<double>(global_batch) / static_cast<double>(spec.reference_batch) : 1;
  schedule.peak_ = spec.rate * scaling;
  // A batch below the reference needs no ramp upwards: it begins where it stays.
  schedule.start_ = std::min(spec.reference_batch > 0 ? spec.rate : 0.0, schedule.peak_);
  schedule.epochs_ = static_cast<double>(epochs);
  return schedule;
}

double Schedule::rate(double epoch) const {
  if (epoch < spec_.warmup_epochs) {
    const double done = spec_.warmup_by_epoch ? std::floor(epoch) : epoch;
    return start_ + done / spec_.warmup_epochs * (peak_ - start_);
  }
  if (spec_.name == "plateau") return std::max(spec_.min_rate, peak_ * state_.scale);
  if (spec_.name == "multistep") {
    const auto passed = std::ranges::count_if(spec_.milestones, [&](double m) { return epoch >= m; });
    return peak_ * std::pow(spec_.factor, static_cast<double>(passed));
  }
  if (spec_.name == "cosine") {
    const double span = std::max(1e-9, epochs_ - spec_.warmup_epochs);
    const double part = std::clamp((epoch - spec_.warmup_epochs) / span, 0.0, 1.0);
    return spec_.min_rate + (peak_ - spec_.min_rate) * (1 + std::cos(std::numbers::pi * part)) / 2;
  }
  return peak_;
}

void Schedule::epoch_ended(double metric) {
  if (spec_.name != "plateau") return;
  const bool better = !state_.any || metric < state_.best * (1 - spec_.threshold);
  if (better) {
    state_.best = metric;
    state_.bad_epochs = 0;
    state_.any = true;
  } else {
    ++state_.bad_epochs;
  }
  if (state_.cooling > 0) {
    --state_.cooling;
    state_.bad_epochs = 0;
  }
  if (state_.bad_epochs <= spec_.patience) return;
  const double now = peak_ * state_.scale;
  const double next = std::max(spec_.min_rate, now * spec_.factor);
  if (now - next > kSmallestChange) state_.scale = next / peak_;
  state_.cooling = spec_.cooldown;
  state_.bad_epochs = 0;
}

}  // namespace gradwatt::training
