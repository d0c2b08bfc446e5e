// Any run record served as live sensors: what was recorded t after the run's begin is read t after the backend was
// opened.
//
// For tests (script.hpp makes runs with known energy), for showing a recorded incident live, and for trying triggers on
// real data. Reads run records only; a foreign recording is imported first.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "gradwatt/record/run.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::replay {

class ReplayBackend final : public telemetry::Backend {
 public:
  /// `source` names the record in every series' origin: "replay of job-4711.db: nvml field 186".
  ReplayBackend(record::Run run, std::string source);
  /// From a run folder or one .db in it. Errors as record::load_file and load_folder.
  static core::Result<std::unique_ptr<ReplayBackend>> load(const std::filesystem::path& record);

  [[nodiscard]] std::string_view name() const override { return "replay"; }
  [[nodiscard]] std::vector<telemetry::SourceStatus> probe() override;
  /// One sensor with all devices that have samples; the replay begins now. After the record's end each device is read
  /// once more with its last values and then lost.
  [[nodiscard]] core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> open(
      const telemetry::OpenContext& context) override;

 private:
  std::shared_ptr<const record::Run> run_;
  std::string source_;
};

}  // namespace gradwatt::replay
