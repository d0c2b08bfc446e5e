// Start-up calibration: how often a source really changes its value, and how long a reading takes. Runs inside the
// sensor's own thread beside the first periods and delays nothing.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::telemetry {

/// Watches a burst of quick readings of power and energy.
class UpdateWatch {
 public:
  static constexpr core::Duration kPace = std::chrono::milliseconds(15);
  static constexpr core::Duration kLength = std::chrono::milliseconds(900);

  void see(const Reading& reading);

  struct Found {
    std::size_t device;
    record::MetricId metric;
    core::Duration period;  ///< mean time between changes; at least the pace of the burst
  };
  /// Series that changed at least three times; of the others nothing can be said.
  [[nodiscard]] std::vector<Found> found() const;
  /// Only these are worth watching: power and energy that is not modelled.
  [[nodiscard]] static bool worth(const std::vector<SensorDevice>& devices);

 private:
  struct Track {
    std::int64_t value = 0;
    core::Instant first_change{}, last_change{};
    int changes = 0;
  };
  std::map<std::pair<std::size_t, record::MetricId>, Track> tracks_;
};

/// Median and longest of the recent readings' durations.
class LatencyBook {
 public:
  void add(core::Duration d);
  [[nodiscard]] std::optional<core::Duration> median() const;
  [[nodiscard]] core::Duration longest() const { return longest_; }
  /// The shortest of the last five: what a reading costs when nothing else disturbs it.
  [[nodiscard]] std::optional<core::Duration> undisturbed() const;

 private:
  static constexpr std::size_t kKept = 256;
  std::vector<core::Duration> recent_;
  std::size_t next_ = 0;
  core::Duration longest_{0};
};

}  // namespace gradwatt::telemetry
