// What the sampler knows right now, for status line, dashboard and triggers: never read from the file.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "gradwatt/record/run.hpp"

namespace gradwatt::telemetry {

/// The latest rows of one device.
struct LiveDevice {
  record::DeviceIndex index{};
  record::Device device;
  record::Row last, previous;  ///< previous has no values before the second tick
  /// In the metric's unit, nothing where the latest row lacks it.
  [[nodiscard]] std::optional<double> value(record::MetricId metric) const;
  /// Mean power between the last two rows by an energy counter, else nothing.
  [[nodiscard]] std::optional<double> power_from_energy(record::MetricId energy) const;
};

class LiveBoard {
 public:
  void add_device(record::DeviceIndex index, const record::Device& device);
  void add_row(const record::Row& row);
  [[nodiscard]] std::vector<LiveDevice> snapshot() const;

 private:
  mutable std::mutex mutex_;  // guards devices_
  std::map<record::DeviceIndex, LiveDevice> devices_;
};

}  // namespace gradwatt::telemetry
