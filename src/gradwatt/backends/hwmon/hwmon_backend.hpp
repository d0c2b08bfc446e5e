// Power meters that the kernel shows under /sys/class/hwmon: Grace superchips, amd_energy, labelled node meters.
#pragma once

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::hwmon {

class HwmonBackend final : public telemetry::Backend {
 public:
  explicit HwmonBackend(core::FileTree tree = core::FileTree{});

  [[nodiscard]] std::string_view name() const override { return "hwmon"; }
  [[nodiscard]] std::vector<telemetry::SourceStatus> probe() override;
  /// At most one sensor. A meter that cannot be read at the start is left out; its reason is in probe().
  [[nodiscard]] core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> open(
      const telemetry::OpenContext& context) override;

 private:
  core::FileTree tree_;
};

}  // namespace gradwatt::hwmon
