// Finds out once what one GPU or slice answers to, and then reads exactly that at each tick: one batched field call,
// the cheap plain calls, GPM, and the rare calls when they are due.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gradwatt/backends/nvml/bounds.hpp"
#include "gradwatt/backends/nvml/fields.hpp"
#include "gradwatt/backends/nvml/gpm.hpp"
#include "gradwatt/backends/nvml/library.hpp"
#include "gradwatt/backends/nvml/plain_calls.hpp"
#include "gradwatt/backends/nvml/power_meaning.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::nvml {

/// A series that this device does not have, and why.
struct Absence {
  std::string what;  ///< "power_memory_avg_w by nvml field 185 scope 2"
  Return code;
};

/// Highest plausible speeds of counters, per second, from the device's own limits; nothing: not known.
struct CounterCeilings {
  std::optional<double> energy_w;
  std::optional<double> module_energy_w;
  std::optional<double> pcie_bytes;
};

struct ReaderTarget {
  DeviceHandle handle = nullptr;         ///< for fields and plain calls
  DeviceHandle gpm_handle = nullptr;     ///< the whole GPU
  std::optional<unsigned> gpu_instance;  ///< a MIG slice: only what belongs to a slice alone is read
  bool superchip = false;
  bool shared = false;  ///< in MIG mode: figures of the whole GPU, not only of this job
  PowerMeaning meaning;
  CounterCeilings ceilings;
};

class SeriesReader {
 public:
  /// Asks the device for everything once. `stagger` spreads the rare calls of several devices over the ticks.
  SeriesReader(std::shared_ptr<const Library> library, ReaderTarget target, const Bounds& bounds,
               const core::Clock& clock, core::Duration interval, core::Duration stagger);

  [[nodiscard]] const std::vector<telemetry::SeriesSpec>& series() const { return series_; }
  [[nodiscard]] const std::vector<Absence>& absences() const { return absences_; }

  /// Reads what is due into `reading` as `device`, and stamps it. Does nothing once the device is lost.
  void read(telemetry::Reading& reading, std::size_t device);
  [[nodiscard]] bool lost() const { return lost_; }
  /// Energy counter of the last read; nothing when it failed then.
  [[nodiscard]] std::optional<std::int64_t> energy_uj() const { return energy_uj_; }
  [[nodiscard]] core::Instant stamped() const { return stamped_; }

 private:
  struct ActiveCall {
    std::string_view source;
    std::array<record::MetricId, 2> metrics;
    std::size_t count;
    Return (*read)(const Functions&, DeviceHandle, PlainValues&);
    core::Duration cadence;
    core::Instant due;
    std::array<bool, 2> alive{true, true};
  };

  // --- at the start
  void probe_fields();
  [[nodiscard]] std::vector<FieldValue> ask_fields() const;
  void adopt_field(const FieldRow& row, const FieldValue& answer);
  void probe_calls(core::Duration stagger);
  void probe_classic_power();
  void adopt_call(const PlainCall& row, record::MetricId first, core::Duration stagger);
  void probe_gpm(core::Duration interval);
  void add_series(telemetry::SeriesSpec spec);
  [[nodiscard]] bool has(record::MetricId metric) const;
  void note_absence(record::MetricId metric, std::string_view source, Return code);

  // --- at each tick
  void read_fields(telemetry::Reading& reading, std::size_t device);
  void read_calls(telemetry::Reading& reading, std::size_t device, core::Instant now);
  void read_gpm(telemetry::Reading& reading, std::size_t device, core::Instant now);
  void put(telemetry::Reading& reading, std::size_t device, record::MetricId metric, std::int64_t stored,
           std::string_view source);
  /// What a failed code means for the series; true when it stays.
  bool refuse(telemetry::Reading& reading, std::size_t device, record::MetricId metric, Return code,
              std::string_view source);
  void lose_device(telemetry::Reading& reading, std::size_t device, Return code, std::string_view source);

  std::shared_ptr<const Library> library_;
  ReaderTarget target_;
  Bounds bounds_;
  const core::Clock& clock_;
  std::vector<telemetry::SeriesSpec> series_;
  std::vector<Absence> absences_;
  std::vector<const FieldRow*> fields_;
  std::vector<FieldValue> batch_;  ///< one entry a field, reused
  std::vector<ActiveCall> calls_;
  std::optional<GpmReader> gpm_;
  std::array<bool, 16> gpm_alive_{};
  std::optional<std::int64_t> energy_uj_;
  core::Instant stamped_{};
  bool lost_ = false;
};

}  // namespace gradwatt::nvml
