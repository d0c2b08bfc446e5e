#include "gradwatt/backends/proc/proc_backend.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "gradwatt/backends/proc/cgroups.hpp"
#include "gradwatt/backends/proc/host_sensor.hpp"
#include "gradwatt/backends/proc/job_sensor.hpp"

namespace gradwatt::proc {
namespace {

telemetry::SourceStatus host_status(const core::FileTree& tree) {
  telemetry::SourceStatus status{"/proc", "CPU use, memory, network and disk bytes of host and job", false, "", ""};
  const auto text = tree.read("proc/stat");
  status.usable = text && parse_stat(*text);
  if (!status.usable)
    status.detail = text ? "/proc/stat is not in the known form" : text.error().message;
  else
    status.detail = fmt::format("{} network ports, {} RDMA ports, {} disks", find_interfaces(tree).size(),
                                find_rdma_ports(tree).size(), find_disks(tree).size());
  if (!status.usable && !text) status.remedy = "mount -t proc proc /proc";
  return status;
}

telemetry::SourceStatus pressure_status(const core::FileTree& tree) {
  telemetry::SourceStatus status{"pressure stall information", "time that tasks wait for CPU, memory and I/O", false,
                                 "", ""};
  const auto text = tree.read("proc/pressure/cpu");
  status.usable = text.has_value();
  status.detail = text ? "cpu, memory, io" : text.error().message;
  if (!text) status.remedy = "start the kernel with psi=1";
  return status;
}

telemetry::SourceStatus cgroup_status(const core::FileTree& tree) {
  telemetry::SourceStatus status{"control groups", "CPU budget, memory limit and throttling of the job", false, "", ""};
  const auto groups = Cgroups::of(tree, 0);
  status.usable = groups.version() != "none";
  status.detail = groups.version();
  if (const auto quota = groups.cpu_quota()) status.detail += fmt::format(", quota of {:.2f} CPUs", *quota);
  if (const auto limit = groups.memory_limit_bytes())
    status.detail += fmt::format(", memory limit {:.1f} GiB", static_cast<double>(*limit) / (1024.0 * 1024 * 1024));
  return status;
}

telemetry::SourceStatus schedstat_status(const core::FileTree& tree) {
  telemetry::SourceStatus status{"scheduler statistics", "time that the job's threads wait for a CPU", false, "", ""};
  const auto text = tree.read("proc/self/schedstat");
  status.usable = text.has_value();
  status.detail = text ? "/proc/PID/task/TID/schedstat" : text.error().message;
  return status;
}

}  // namespace

ProcBackend::ProcBackend(core::FileTree tree) : tree_(std::move(tree)) {}

std::vector<telemetry::SourceStatus> ProcBackend::probe() {
  return {host_status(tree_), pressure_status(tree_), cgroup_status(tree_), schedstat_status(tree_)};
}

core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> ProcBackend::open(const telemetry::OpenContext& context) {
  std::vector<std::unique_ptr<telemetry::Sensor>> sensors;
  if (!tree_.exists("proc/stat")) return sensors;
  sensors.push_back(std::make_unique<HostSensor>(tree_));
  sensors.back()->follow(context.job);
  JobSensor::Options options;
  options.ticks_per_s = ::sysconf(_SC_CLK_TCK);
  options.page_bytes = ::sysconf(_SC_PAGESIZE);
  sensors.push_back(std::make_unique<JobSensor>(tree_, context.clock, context.job, census_asked_, options));
  return sensors;
}

}  // namespace gradwatt::proc
