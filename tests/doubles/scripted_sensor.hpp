// A sensor that does what its test says; it counts how often it was read.
#pragma once

#include <functional>
#include <utility>

#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::doubles {

class ScriptedSensor final : public telemetry::Sensor {
 public:
  using Read = std::function<void(telemetry::Reading&)>;
  ScriptedSensor(std::string name, std::vector<telemetry::SensorDevice> devices, Read read)
      : name_(std::move(name)), devices_(std::move(devices)), read_(std::move(read)) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::vector<telemetry::SensorDevice> devices() const override { return devices_; }
  void read(telemetry::Reading& reading) override { read_(reading); }

 private:
  std::string name_;
  std::vector<telemetry::SensorDevice> devices_;
  Read read_;
};

/// A backend that opens the sensors it was given.
class ScriptedBackend final : public telemetry::Backend {
 public:
  explicit ScriptedBackend(std::vector<std::unique_ptr<telemetry::Sensor>> sensors,
                           std::function<void(const telemetry::OpenContext&)> on_open = {})
      : sensors_(std::move(sensors)), on_open_(std::move(on_open)) {}
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] std::vector<telemetry::SourceStatus> probe() override { return {}; }
  [[nodiscard]] core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> open(
      const telemetry::OpenContext& context) override {
    if (on_open_) on_open_(context);
    return std::move(sensors_);
  }

 private:
  std::vector<std::unique_ptr<telemetry::Sensor>> sensors_;
  std::function<void(const telemetry::OpenContext&)> on_open_;
};

inline telemetry::SensorDevice gpu_with(std::string uuid, std::vector<telemetry::SeriesSpec> series) {
  return {{record::DeviceKind::gpu, std::move(uuid), "Scripted GPU", 0, "", {}}, std::move(series)};
}

}  // namespace gradwatt::doubles
