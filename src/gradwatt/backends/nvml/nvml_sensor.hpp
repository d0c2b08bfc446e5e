// The job's NVIDIA GPUs and MIG slices as one sensor. Reads only; nothing is ever set on a GPU.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gradwatt/backends/nvml/description.hpp"
#include "gradwatt/backends/nvml/selection.hpp"
#include "gradwatt/backends/nvml/series_reader.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::nvml {

/// The library and what it showed when it was opened.
struct Session {
  std::shared_ptr<const Library> library;
  Inventory inventory;
};

class NvmlSensor final : public telemetry::Sensor {
 public:
  /// Without a session (a job that uses no GPU so far) the driver is started by the first follow() that needs it.
  NvmlSensor(std::optional<Session> session, std::string library_path, const core::Clock& clock,
             core::Duration interval);

  [[nodiscard]] std::string_view name() const override { return "nvml"; }
  [[nodiscard]] std::vector<telemetry::SensorDevice> devices() const override;
  bool follow(const telemetry::JobScope::Snapshot& job) override;
  void read(telemetry::Reading& reading) override;
  [[nodiscard]] std::vector<record::Fact> facts() override;

 private:
  struct Entry {
    Choice choice;
    Description description;
    SeriesReader reader;
    std::optional<std::size_t> parent;  ///< of a slice: position of its GPU in entries_
    std::optional<telemetry::SeriesSpec> slice_energy;
    bool parent_loss_told = false;
  };
  struct Note {
    std::string kind, text;
  };

  void add_gpu(Choice choice);
  void add_slice(Choice choice);
  void tell(std::string kind, std::string text);
  void read_slice_energy(telemetry::Reading& reading, std::size_t position);
  [[nodiscard]] std::vector<record::Fact> absence_facts() const;

  std::optional<Session> session_;
  std::string library_path_;
  const core::Clock& clock_;
  core::Duration interval_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<Note> untold_;    ///< go out as events with the next reading
  std::set<std::string> told_;  ///< each text once
};

}  // namespace gradwatt::nvml
