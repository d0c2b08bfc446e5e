// Energy of CPU packages and their memory by RAPL: perf events first (the kernel keeps 64-bit sums, nothing wraps),
// else the powercap files.
//
// Rules: package and dram domains only; core and uncore are inside package, psys around it, intel-rapl-mmio a second
// view of it; dies of one package are devices of their own and add. A failed reading is a failure, never a zero.
#pragma once

#include <memory>

#include "gradwatt/backends/rapl/perf_events.hpp"
#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::rapl {

class RaplBackend final : public telemetry::Backend {
 public:
  explicit RaplBackend(core::FileTree tree = core::FileTree{}, std::shared_ptr<PerfEvents> perf = system_perf_events());

  [[nodiscard]] std::string_view name() const override { return "rapl"; }
  [[nodiscard]] std::vector<telemetry::SourceStatus> probe() override;
  /// At most one sensor, of kinds cpu and dram. Refused rights are no error: probe() holds the remedy.
  [[nodiscard]] core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> open(
      const telemetry::OpenContext& context) override;

 private:
  core::FileTree tree_;
  std::shared_ptr<PerfEvents> perf_;
};

}  // namespace gradwatt::rapl
