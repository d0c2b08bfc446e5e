#include "gradwatt/telemetry/counter_guard.hpp"

#include "gradwatt/units/quantity.hpp"

namespace gradwatt::telemetry {

bool CounterGuard::believable(double step, core::Duration dt) const {
  if (step < 0) return false;
  return !limits_.max_per_s || step <= *limits_.max_per_s * units::in_seconds(dt + kUpdateSlack);
}

CounterGuard::Outcome CounterGuard::count(core::Instant when, std::int64_t raw, std::int64_t step, Outcome outcome) {
  if (step != 0) last_move_ = when;
  total_ += step;
  last_ = Point{when, raw};
  return outcome;
}

CounterGuard::Outcome CounterGuard::compare_with_held(core::Instant when, std::int64_t raw) {
  const Point held = *held_;
  const auto step = raw - held.raw;
  if (!believable(static_cast<double>(step), when - held.when)) {
    held_ = Point{when, raw};
    return Outcome::held;
  }
  held_.reset();
  return count(when, raw, step, Outcome::reset);
}

CounterGuard::Outcome CounterGuard::advance(core::Instant when, std::optional<std::int64_t> raw) {
  if (!raw || *raw < 0) return Outcome::failed;
  if (!last_) {
    last_move_ = when;
    return count(when, *raw, 0, Outcome::first);
  }
  const auto dt = when - last_->when;
  const auto step = *raw - last_->raw;
  const bool was_held = held_.has_value();
  if (believable(static_cast<double>(step), dt)) {
    held_.reset();
    if (step == 0 && limits_.always_moves && when - last_move_ >= kStuckAfter) return Outcome::stuck;
    // The reading is moved along only when the counter moves, so that dt covers the whole step.
    if (step == 0) return was_held ? Outcome::glitch : Outcome::advanced;
    return count(when, *raw, step, was_held ? Outcome::glitch : Outcome::advanced);
  }
  if (step < 0 && limits_.range && limits_.max_per_s) {
    const double wrapped = *limits_.range + static_cast<double>(step);
    if (believable(wrapped, dt)) {
      held_.reset();
      return count(when, *raw, static_cast<std::int64_t>(wrapped), Outcome::wrapped);
    }
  }
  // A small step back of a counter that lives on, not a restart from zero.
  const double back = -static_cast<double>(step);
  if (!was_held && step < 0 && limits_.max_per_s && *raw > 0 && back <= *limits_.max_per_s * units::in_seconds(dt) &&
      back < 0.5 * static_cast<double>(last_->raw))
    return Outcome::backward;
  if (was_held) return compare_with_held(when, *raw);
  held_ = Point{when, *raw};
  return Outcome::held;
}

}  // namespace gradwatt::telemetry
