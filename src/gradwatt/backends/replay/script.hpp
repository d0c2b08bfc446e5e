// Scripted devices for tests and demonstrations: a run whose power follows waves and whose energy is known exactly.
//
//   Script script(10min);
//   const auto gpu = script.add({.uuid = "GPU-1", .wave = square(watts(70), watts(650), 20s)});
//   ReplayBackend backend(script.build(), "two waves");     // served as live sensors
//   script.energy(gpu)                                      // what the measured total must be
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/backends/replay/wave.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::replay {

struct ScriptDevice {
  record::DeviceKind kind = record::DeviceKind::gpu;  ///< gpu, cpu, dram or node
  std::string uuid;
  std::string name = "Scripted GPU";
  int index = 0;
  Wave wave;
  bool energy_counter = true;
  bool power = true;
  std::int64_t counter_begin_uj = 0;      ///< what the counter shows at the begin
  std::optional<units::Power> limit;      ///< a GPU's enforced limit
  std::optional<double> utilization_pct;  ///< of a GPU or CPU
};

class Script {
 public:
  /// Values are stored every `step`: finer than the fastest wave by far. The power of a step is the wave's mean over
  /// it, so that power held from sample to sample adds up to the same energy (to half a milliwatt).
  explicit Script(core::Duration length, core::Duration step = std::chrono::milliseconds(10));

  record::DeviceIndex add(ScriptDevice device);
  /// A run on a monotonic clock that begins at 0; where: simulated.
  [[nodiscard]] record::Run build() const;
  /// Of the whole script, in the counter's unit: the last counter value minus the first.
  [[nodiscard]] std::int64_t energy_uj(record::DeviceIndex device) const;
  [[nodiscard]] units::Energy energy(record::DeviceIndex device) const;
  [[nodiscard]] units::Energy total_energy() const;
  [[nodiscard]] core::Duration length() const { return length_; }

 private:
  [[nodiscard]] record::DeviceSeries series_of(std::size_t device) const;

  core::Duration length_, step_;
  std::vector<ScriptDevice> devices_;
};

}  // namespace gradwatt::replay
