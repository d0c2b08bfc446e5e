// The readings that have no field id: one driver call each. Cheap ones every tick, dear or slowly changing ones rarely.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

#include "gradwatt/backends/nvml/library.hpp"
#include "gradwatt/core/clock.hpp"
#include "gradwatt/record/metric.hpp"

namespace gradwatt::nvml {

/// One or two values of one call, in the metrics' stored step. A sentinel of the driver stays as it is: Bounds refuses
/// it.
using PlainValues = std::array<std::int64_t, 2>;

struct PlainCall {
  std::string_view source;  ///< "nvmlDeviceGetUtilizationRates"
  std::array<record::MetricId, 2> metrics;
  std::size_t count;  ///< how many of `metrics` and of the values it fills
  Return (*read)(const Functions&, DeviceHandle, PlainValues&);
  core::Duration cadence{0};  ///< 0: every tick
  std::string_view note = {};
  bool only_as_fallback = false;  ///< used only where no field brings the metric
};
[[nodiscard]] std::span<const PlainCall> plain_call_table();

/// The classic power call. Which metric it fills depends on the architecture (power_meaning.hpp), hence not in the
/// table.
[[nodiscard]] Return read_power_usage(const Functions& nvml, DeviceHandle gpu, PlainValues& out);

}  // namespace gradwatt::nvml
