#include "gradwatt/telemetry/tick_schedule.hpp"

namespace gradwatt::telemetry {

core::Instant TickSchedule::next(core::Instant now) {
  std::int64_t wanted = period_ + 1;
  const std::int64_t current = (now - origin_) / interval_;
  if (wanted < current) {
    missed_ += static_cast<std::uint64_t>(current - wanted);
    wanted = current;
  }
  period_ = wanted;
  const core::Instant begin = origin_ + wanted * interval_;
  if (sampling_ != record::Sampling::stratified) return begin;
  return begin + core::Duration(std::uniform_int_distribution<std::int64_t>(0, interval_.count() - 1)(random_));
}

void TickSchedule::lengthen(core::Instant now) {
  origin_ = origin_ + ((now - origin_) / interval_ + 1) * interval_;
  interval_ *= 2;
  period_ = -1;
}

}  // namespace gradwatt::telemetry
