// NVIDIA GPUs by the driver's own library, opened at run time.
//
//   NvmlBackend backend({.library_path = value of GRADWATT_NVML_LIBRARY or ""});
//   auto sensors = backend.open(context);   // starts the driver library: call it in a thread, after any fork
#pragma once

#include <chrono>
#include <string>

#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::nvml {

struct NvmlOptions {
  std::string library_path;  ///< empty: libnvidia-ml.so.1 of the machine
  /// probe() answers after this even if the driver hangs.
  core::Duration probe_timeout = std::chrono::seconds(5);
};

class NvmlBackend final : public telemetry::Backend {
 public:
  explicit NvmlBackend(NvmlOptions options = {}) : options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return "nvml"; }
  [[nodiscard]] std::vector<telemetry::SourceStatus> probe() override;
  /// One sensor. No library or no driver is no error: then there are no sensors. A driver that is there and refuses is
  /// one: not_permitted, or not_supported (version mismatch).
  [[nodiscard]] core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> open(
      const telemetry::OpenContext& context) override;

 private:
  NvmlOptions options_;
};

}  // namespace gradwatt::nvml
