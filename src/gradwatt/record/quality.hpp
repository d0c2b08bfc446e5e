// How good a series is: where it came from, how often it was read and what went wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gradwatt/record/device.hpp"
#include "gradwatt/record/metric.hpp"

namespace gradwatt::record {

/// When readings were taken. It decides how power may be integrated.
enum class Sampling : std::uint8_t {
  deadline,    ///< at the end of each period
  stratified,  ///< at one uniformly random instant of each period: unbiased for any periodic load
  irregular,   ///< an imported recording: whenever somebody wrote a line
};
[[nodiscard]] std::string_view name_of(Sampling sampling);
[[nodiscard]] std::optional<Sampling> sampling_from(std::string_view name);

struct SeriesQuality {
  DeviceIndex device{};
  MetricId metric{};
  How how = How::counter;
  Where where = Where::live;
  std::string scope;   ///< what the figure covers: "gpu", "module", "memory", "package", "node", "process tree"
  std::string source;  ///< "nvml field 186", "perf power/energy-pkg", "model cpu-utilisation"
  std::int64_t cadence_ns = 0;  ///< time between due readings
  Sampling sampling = Sampling::deadline;
  std::int64_t phase_ns = 0;    ///< start of the first period (stratified: period k is phase + k·cadence)
  /// Share of time that the device's power reading really sees: 0.25 for a 25 ms window every 100 ms. Nothing: unknown.
  std::optional<double> duty;
  std::optional<double> uncertainty;       ///< relative, of the sensor itself: 0.05 is ±5 %
  std::optional<double> range_low, range_high;  ///< modelled series: the model's range as factors on the value
  /// Of the time mean of power read at random instants, in the metric's unit, from the differences of neighbouring
  /// readings (too large rather than too small for slow waves). Nothing for counters and fixed deadlines.
  std::optional<double> standard_error;
  std::optional<double> coverage;          ///< share of due readings that came
  std::optional<std::int64_t> update_ns;   ///< measured time between changes of the value
  std::uint64_t readings = 0;
  std::uint64_t failed = 0;    ///< readings that returned an error
  std::uint64_t wraps = 0;     ///< counter passed its range (corrected)
  std::uint64_t resets = 0;    ///< counter began again (the step is a gap)
  std::uint64_t backward = 0;  ///< counter went back a little (the step counts as nothing)
  std::uint64_t stuck = 0;     ///< times that the counter stood still while the device drew power
  std::uint64_t glitches = 0;  ///< impossible steps that were rejected
  std::string note;            ///< what a reader must know: "includes CPU and memory of the superchip"
};

}  // namespace gradwatt::record
