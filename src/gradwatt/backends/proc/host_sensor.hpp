// The host as a whole, its network ports and its disks, read from /proc and /sys at each tick.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/backends/proc/node_files.hpp"
#include "gradwatt/backends/proc/ports_and_disks.hpp"
#include "gradwatt/core/kept_file.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::proc {

/// Devices: "node", then ports, then disks. What is missing at the start is no device or series; what goes away in
/// mid-run is a failed reading.
class HostSensor final : public telemetry::Sensor {
 public:
  explicit HostSensor(core::FileTree tree);

  [[nodiscard]] std::string_view name() const override { return "proc"; }
  [[nodiscard]] std::vector<telemetry::SensorDevice> devices() const override { return devices_; }
  void read(telemetry::Reading& reading) override;
  /// Facts of the host and of what the job may use of it.
  [[nodiscard]] std::vector<record::Fact> facts() override;
  bool follow(const telemetry::JobScope::Snapshot& job) override;
  [[nodiscard]] bool may_block() const override { return false; }

 private:
  void add_node();
  void add_ports();
  void add_disks();
  void read_stat(telemetry::Reading& reading);
  void read_memory(telemetry::Reading& reading);
  void read_pressure(telemetry::Reading& reading);
  void read_interfaces(telemetry::Reading& reading);
  void read_rdma(telemetry::Reading& reading);
  void read_disks(telemetry::Reading& reading);

  core::FileTree tree_;
  core::KeptFile stat_, meminfo_, net_dev_, diskstats_;
  std::string buffer_;  // of whichever file is read
  std::vector<telemetry::SensorDevice> devices_;
  std::optional<CpuTimes> before_;
  std::vector<std::pair<record::MetricId, core::KeptFile>> pressure_;  // the files that this kernel has
  std::vector<std::string> interfaces_;                                // device 1 on
  std::vector<RdmaPort> rdma_;                                         // then these
  std::vector<std::string> disks_;                                     // then these
  /// What the job may use; empty when its process cannot be looked at.
  [[nodiscard]] std::vector<record::Fact> limits_of_job() const;

  std::vector<record::Fact> limits_;
  pid_t job_root_ = 0;  // 0: gradwatt's own limits stand for the job's
};

}  // namespace gradwatt::proc
