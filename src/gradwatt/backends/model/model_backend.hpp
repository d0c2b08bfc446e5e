// Power by model, used only where nothing measures: always labelled modelled, with its range and what it rests on.
#pragma once

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::model {

/// Covers cpu and dram where OpenContext.covered does not name them, so it is opened last.
class ModelBackend final : public telemetry::Backend {
 public:
  explicit ModelBackend(core::FileTree tree = core::FileTree{});

  [[nodiscard]] std::string_view name() const override { return "model"; }
  [[nodiscard]] std::vector<telemetry::SourceStatus> probe() override;
  [[nodiscard]] core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> open(
      const telemetry::OpenContext& context) override;

 private:
  core::FileTree tree_;
};

}  // namespace gradwatt::model
