// The fields that one batched call brings for each GPU and tick, and how their values become stored integers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "gradwatt/backends/nvml/api.hpp"
#include "gradwatt/record/metric.hpp"

namespace gradwatt::nvml {

struct FieldRow {
  unsigned field;
  unsigned scope;
  record::MetricId metric;
  std::int64_t factor;         ///< stored step = raw value × factor: mW→mW 1, mJ→µJ 1000, KiB→bytes 1024
  std::string_view covers;     ///< scope for people: "gpu", "module", "memory"
  std::string_view source;     ///< "nvml field 186"
  std::string_view note = {};  ///< what a reader of the series must know
};
/// Where a metric has several rows the first that the device supports is used.
[[nodiscard]] std::span<const FieldRow> field_table();

/// The number in the value, by the type that came back with it. Nothing for sentinels (all bits set, the "blank"
/// values of monitoring libraries), negative numbers, non-finite ones, unknown types, and what does not fit.
[[nodiscard]] std::optional<std::int64_t> decode(ValueType type, const Value& value, std::int64_t factor);

/// The value at which a counter of this type wraps, in raw units; nothing for 64 bits, which nobody reaches.
[[nodiscard]] std::optional<double> range_of(ValueType type);

}  // namespace gradwatt::nvml
