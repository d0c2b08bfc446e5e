// One series as the analyses see it: only the readings that came, with the rule by which they were taken.
// Missing cells of a column (not due, or failed) are left out here once, so that no analysis meets them again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gradwatt/energy/window.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::energy {

/// Times and stored integers of one series. Refers to the run that it came from where nothing was missing: the run
/// must outlive it. Movable, not copyable, because the spans may point into its own storage.
class Readings {
 public:
  /// All present cells of a column; empty when there are none.
  static Readings of(const record::DeviceSeries& series, const record::Column& column);
  /// Takes values that were derived from others.
  static Readings own(std::vector<std::int64_t> time_ns, std::vector<std::int64_t> values);

  Readings(Readings&&) = default;
  Readings& operator=(Readings&&) = default;
  Readings(const Readings&) = delete;
  Readings& operator=(const Readings&) = delete;
  ~Readings() = default;

  [[nodiscard]] std::span<const std::int64_t> time_ns() const { return time_ns_; }
  [[nodiscard]] std::span<const std::int64_t> values() const { return values_; }
  [[nodiscard]] std::size_t size() const { return time_ns_.size(); }
  [[nodiscard]] bool empty() const { return time_ns_.empty(); }
  /// The spans point into the run, which outlives this.
  [[nodiscard]] bool borrowed() const { return own_time_ns_.empty(); }
  /// First reading at or after `time_ns`; size() when there is none.
  [[nodiscard]] std::size_t first_at_or_after(std::int64_t time_ns) const;

 private:
  Readings() = default;
  std::vector<std::int64_t> own_time_ns_, own_values_;
  std::span<const std::int64_t> time_ns_, values_;
};

/// Readings of one metric of one device, and how they were taken.
struct Series {
  record::DeviceIndex device{};
  record::MetricId metric{};
  Readings readings;
  const record::SeriesQuality* quality = nullptr;  ///< null when the run says nothing of it
  record::Sampling sampling = record::Sampling::irregular;
  std::int64_t cadence_ns = 0;  ///< declared, else the median distance of the readings; above 0 with two readings
  std::int64_t phase_ns = 0;

  [[nodiscard]] double step() const { return record::info(metric).step; }
};

/// Nothing when the metric was not recorded or has no reading at all.
[[nodiscard]] std::optional<Series> open_series(const record::Run& run, record::DeviceIndex device,
                                                record::MetricId metric);

}  // namespace gradwatt::energy
