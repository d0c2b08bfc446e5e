// What a GPU can possibly report. A value outside is a sentinel or a broken reading: it is refused with a reason and
// never stored, because a wrong number that looks right is worse than a gap.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "gradwatt/record/metric.hpp"

namespace gradwatt::nvml {

/// What is known of the device; limits come from the device and not from constants, for module-class parts reach 3 kW.
struct DeviceLimits {
  std::optional<std::int64_t> power_limit_max_mw;  ///< highest limit that may be set, else the one in force
  std::optional<std::int64_t> memory_total_bytes;
};

class Bounds {
 public:
  explicit Bounds(const DeviceLimits& limits);
  /// `stored` is in the metric's step. Nothing when it is possible, else why it is not.
  [[nodiscard]] std::optional<std::string> objection(record::MetricId metric, std::int64_t stored) const;

 private:
  struct Range {
    std::int64_t low, high;
  };
  std::array<Range, record::metric_count(record::DeviceKind::gpu)> ranges_;
};

}  // namespace gradwatt::nvml
