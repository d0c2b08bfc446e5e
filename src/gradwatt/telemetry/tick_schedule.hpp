// When a sensor is read: once in each period of the interval, on its begin or at a uniformly random instant of it.
//
// Power that must be integrated is read at a random instant of each period (stratified sampling): the sum is unbiased
// for any periodic load, while a fixed phase aliases with the training step. Counters need no such thing.
#pragma once

#include <cstdint>
#include <random>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/record/quality.hpp"

namespace gradwatt::telemetry {

class TickSchedule {
 public:
  TickSchedule(core::Instant origin, core::Duration interval, record::Sampling sampling, std::uint64_t seed)
      : origin_(origin), interval_(interval), sampling_(sampling), random_(seed) {}

  /// The next due instant after the period of `now`; periods that have gone by whole are counted as missed.
  core::Instant next(core::Instant now);
  /// The reading costs too much at this pace: periods of twice the length from the next one on.
  void lengthen(core::Instant now);

  [[nodiscard]] core::Instant origin() const { return origin_; }
  [[nodiscard]] core::Duration interval() const { return interval_; }
  [[nodiscard]] record::Sampling sampling() const { return sampling_; }
  [[nodiscard]] std::uint64_t missed() const { return missed_; }

 private:
  core::Instant origin_;
  core::Duration interval_;
  record::Sampling sampling_;
  std::mt19937_64 random_;
  std::int64_t period_ = -1;  ///< the last one handed out
  std::uint64_t missed_ = 0;
};

}  // namespace gradwatt::telemetry
