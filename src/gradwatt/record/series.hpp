// The samples of one device: a time axis and one column a metric, loaded only where asked for.
#pragma once

#include <cassert>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/record/metric.hpp"

namespace gradwatt::record {

/// How "no value" is kept inside integer columns (NULL in the file). Only this folder and the sampler see it;
/// everybody else gets std::optional.
inline constexpr std::int64_t kMissing = std::numeric_limits<std::int64_t>::min();

/// Values of one metric of one device, in the metric's stored integer step. For counters `values` is the guard's
/// total since the first reading and `raw` what the hardware said.
struct Column {
  MetricId metric{};
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> raw;  ///< empty unless the metric is a counter and raw values were asked for

  [[nodiscard]] bool has(std::size_t i) const { return values[i] != kMissing; }
  /// In the metric's unit (W, J, %, MHz, bytes), nothing where the reading is missing.
  [[nodiscard]] std::optional<double> at(std::size_t i) const {
    if (!has(i)) return std::nullopt;
    return static_cast<double>(values[i]) * info(metric).step;
  }
};

struct DeviceSeries {
  DeviceIndex device{};
  std::vector<std::int64_t> time_ns;  ///< increasing; monotonic clock of the host, or wall clock of an imported recording
  std::vector<Column> columns;        ///< each as long as time_ns

  [[nodiscard]] std::size_t size() const { return time_ns.size(); }
  /// Null when the metric was not recorded or not loaded.
  [[nodiscard]] const Column* find(MetricId metric) const {
    for (const auto& column : columns)
      if (column.metric == metric) return &column;
    return nullptr;
  }
  /// The column, made (all missing) where it is not there yet.
  Column& column(MetricId metric) {
    for (auto& column : columns)
      if (column.metric == metric) return column;
    columns.push_back({metric, std::vector<std::int64_t>(time_ns.size(), kMissing), {}});
    return columns.back();
  }
};

/// One tick's values of one device, as it travels from the sampler to the writer: one cell for each metric of the
/// kind, in table order.
struct Row {
  DeviceIndex device{};
  DeviceKind kind{};
  std::int64_t time_ns = 0;
  std::vector<std::int64_t> values;  ///< kMissing or stored integer; size metric_count(kind)
  std::vector<std::int64_t> raw;     ///< the same for the raw value of counters
};
[[nodiscard]] inline Row empty_row(DeviceIndex device, DeviceKind kind, std::int64_t time_ns) {
  const auto n = metric_count(kind);
  return {device, kind, time_ns, std::vector(n, kMissing), std::vector(n, kMissing)};
}

}  // namespace gradwatt::record
