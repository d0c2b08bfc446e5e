// What the kernel says about host and job without any vendor library: /proc, /sys and the control groups.
#pragma once

#include <atomic>
#include <memory>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::proc {

class ProcBackend final : public telemetry::Backend {
 public:
  explicit ProcBackend(core::FileTree tree = core::FileTree{});

  [[nodiscard]] std::string_view name() const override { return "proc"; }
  [[nodiscard]] std::vector<telemetry::SourceStatus> probe() override;
  /// Two sensors: the host ("proc") and the job ("proc-job").
  [[nodiscard]] core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> open(
      const telemetry::OpenContext& context) override;

  /// Asks the job sensor for a thread census now instead of at its ten-second turn. From any thread.
  void request_census() { census_asked_->store(true); }

 private:
  core::FileTree tree_;
  std::shared_ptr<std::atomic<bool>> census_asked_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace gradwatt::proc
