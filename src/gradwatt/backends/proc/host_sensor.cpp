#include "gradwatt/backends/proc/host_sensor.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>

#include "gradwatt/backends/proc/cgroups.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::proc {
namespace {

using record::DeviceKind;
using record::metric;
using record::MetricId;

constexpr auto kUtilization = metric(DeviceKind::node, "cpu_utilization");
constexpr auto kIowait = metric(DeviceKind::node, "iowait");
constexpr auto kSteal = metric(DeviceKind::node, "steal");
constexpr auto kMemoryUsed = metric(DeviceKind::node, "memory_used");
constexpr auto kMemoryCached = metric(DeviceKind::node, "memory_cached");
constexpr auto kRunning = metric(DeviceKind::node, "threads_running");
constexpr auto kBlocked = metric(DeviceKind::node, "threads_blocked");
constexpr auto kSwitches = metric(DeviceKind::node, "context_switches");
constexpr std::array<std::pair<MetricId, std::string_view>, 3> kPressureFiles{
    {{metric(DeviceKind::node, "pressure_cpu"), "proc/pressure/cpu"},
     {metric(DeviceKind::node, "pressure_memory"), "proc/pressure/memory"},
     {metric(DeviceKind::node, "pressure_io"), "proc/pressure/io"}}};
constexpr auto kRx = metric(DeviceKind::nic, "rx");
constexpr auto kTx = metric(DeviceKind::nic, "tx");
constexpr auto kErrors = metric(DeviceKind::nic, "errors");
constexpr auto kRead = metric(DeviceKind::disk, "read");
constexpr auto kWritten = metric(DeviceKind::disk, "written");
constexpr auto kBusy = metric(DeviceKind::disk, "busy");

telemetry::SeriesSpec spec(MetricId id, std::string scope, std::string source) {
  telemetry::SeriesSpec out;
  out.metric = id;
  const bool counts = record::info(id).type == record::MetricType::counter;
  out.how = counts ? record::How::counter : record::How::integrated;
  out.scope = std::move(scope);
  out.source = std::move(source);
  return out;
}

void fail_all(telemetry::Reading& reading, std::size_t device, std::initializer_list<MetricId> metrics,
              const std::string& reason) {
  for (const auto id : metrics) reading.fail(device, id, reason);
}

void set_traffic(telemetry::Reading& reading, std::size_t device, const Traffic& traffic) {
  reading.set_stored(device, kRx, traffic.received);
  reading.set_stored(device, kTx, traffic.sent);
  reading.set_stored(device, kErrors, traffic.errors);
}

record::Fact fact(std::string_view name, std::variant<double, std::string> value, std::string source) {
  record::Fact out;
  out.name = name;
  out.subject = "host";
  out.value = std::move(value);
  if (const auto* info = record::find_fact(name)) out.unit = info->unit;
  out.source = std::move(source);
  return out;
}

/// CPUs that the scheduler lets a process use.
/// "cpu3 1 2 …", not the line of all CPUs together.
bool is_cpu_line(std::string_view line) {
  return line.starts_with("cpu") && line.size() > 3 && line[3] >= '0' && line[3] <= '9';
}

std::optional<double> cpus_allowed(const core::FileTree& tree, pid_t pid) {
  const auto text = tree.read(pid == 0 ? std::string("proc/self/status") : fmt::format("proc/{}/status", pid));
  if (!text) return std::nullopt;
  constexpr std::string_view kName = "Cpus_allowed_list:";
  for (const auto line : core::split(*text, '\n')) {
    if (!line.starts_with(kName)) continue;
    std::int64_t count = 0;
    for (const auto piece : core::split(core::trim(line.substr(kName.size())), ',')) {
      const auto dash = piece.find('-');
      const auto first = core::parse_int(piece.substr(0, dash));
      const auto last = dash == std::string_view::npos ? first : core::parse_int(piece.substr(dash + 1));
      if (!first || !last) return std::nullopt;
      count += *last - *first + 1;
    }
    return static_cast<double>(count);
  }
  return std::nullopt;
}

}  // namespace

HostSensor::HostSensor(core::FileTree tree)
    : tree_(std::move(tree)),
      stat_(tree_, "proc/stat"),
      meminfo_(tree_, "proc/meminfo"),
      net_dev_(tree_, "proc/net/dev"),
      diskstats_(tree_, "proc/diskstats") {
  add_node();
  add_ports();
  add_disks();
}

void HostSensor::add_node() {
  telemetry::SensorDevice node;
  node.device.kind = DeviceKind::node;
  node.device.uuid = "node";
  node.device.name = tree_.read("proc/sys/kernel/hostname").value_or("this host");
  if (const auto text = tree_.read("proc/meminfo"))
    if (const auto memory = parse_meminfo(*text))
      node.device.attributes["memory_bytes"] = std::to_string(memory->total_bytes);
  const auto text = tree_.read("proc/stat");
  if (const auto stat = text ? parse_stat(*text) : std::nullopt) before_ = stat->cpus;
  for (const auto id : {kUtilization, kIowait, kSteal, kRunning, kBlocked, kSwitches})
    node.series.push_back(spec(id, "node", "/proc/stat"));
  for (const auto id : {kMemoryUsed, kMemoryCached}) node.series.push_back(spec(id, "node", "/proc/meminfo"));
  for (const auto& [id, file] : kPressureFiles) {
    // A kernel started with psi=0 has the files and refuses to read them.
    if (!tree_.read(file)) continue;
    pressure_.emplace_back(id, core::KeptFile(tree_, file));
    node.series.push_back(spec(id, "node", fmt::format("/{}", file)));
  }
  devices_.push_back(std::move(node));
}

void HostSensor::add_ports() {
  interfaces_ = find_interfaces(tree_);
  rdma_ = find_rdma_ports(tree_);
  const auto add = [&](std::string uuid, int index, std::map<std::string, std::string> attributes, std::string source) {
    telemetry::SensorDevice port;
    port.device = {DeviceKind::nic, uuid, uuid, index, "", std::move(attributes)};
    for (const auto id : {kRx, kTx, kErrors}) port.series.push_back(spec(id, "port", source));
    devices_.push_back(std::move(port));
  };
  for (const auto& name : interfaces_) add(name, -1, interface_attributes(tree_, name), "/proc/net/dev");
  for (const auto& port : rdma_)
    add(fmt::format("{}/{}", port.adapter, port.port), port.port, port.attributes,
        fmt::format("/{}/counters", port.folder));
}

void HostSensor::add_disks() {
  disks_ = find_disks(tree_);
  for (const auto& name : disks_) {
    telemetry::SensorDevice disk;
    disk.device = {DeviceKind::disk, name, name, -1, "", disk_attributes(tree_, name)};
    for (const auto id : {kRead, kWritten, kBusy}) disk.series.push_back(spec(id, "disk", "/proc/diskstats"));
    devices_.push_back(std::move(disk));
  }
}

void HostSensor::read(telemetry::Reading& reading) {
  read_stat(reading);
  read_memory(reading);
  read_pressure(reading);
  read_interfaces(reading);
  read_rdma(reading);
  read_disks(reading);
}

void HostSensor::read_stat(telemetry::Reading& reading) {
  const auto text = stat_.read(buffer_);
  const auto stat = text ? parse_stat(*text) : std::nullopt;
  if (!stat) {
    fail_all(reading, 0, {kUtilization, kIowait, kSteal, kRunning, kBlocked, kSwitches},
             text ? "/proc/stat is not in the known form" : text.error().message);
    return;
  }
  const auto shares = before_ ? shares_between(*before_, stat->cpus) : std::nullopt;
  before_ = stat->cpus;
  // Without shares this is the first reading or no time passed: nothing was missed.
  if (shares) {
    reading.set(0, kUtilization, shares->busy_pct);
    reading.set(0, kIowait, shares->iowait_pct);
    reading.set(0, kSteal, shares->steal_pct);
  }
  for (const auto& [id, value] : {std::pair{kRunning, stat->running}, std::pair{kBlocked, stat->blocked},
                                  std::pair{kSwitches, stat->context_switches}})
    if (value)
      reading.set_stored(0, id, *value);
    else
      reading.fail(0, id, "/proc/stat does not say");
}

void HostSensor::read_memory(telemetry::Reading& reading) {
  const auto text = meminfo_.read(buffer_);
  const auto memory = text ? parse_meminfo(*text) : std::nullopt;
  if (!memory) {
    fail_all(reading, 0, {kMemoryUsed, kMemoryCached}, text ? "/proc/meminfo lacks a figure" : text.error().message);
    return;
  }
  reading.set_stored(0, kMemoryUsed, memory->total_bytes - memory->available_bytes);
  reading.set_stored(0, kMemoryCached, memory->cached_bytes);
}

void HostSensor::read_pressure(telemetry::Reading& reading) {
  for (auto& [id, file] : pressure_) {
    const auto text = file.read(buffer_);
    const auto waited_us = text ? parse_pressure_us(*text) : std::nullopt;
    if (waited_us)
      reading.set_stored(0, id, *waited_us);
    else
      reading.fail(0, id, text ? "the pressure file has no total" : text.error().message);
  }
}

void HostSensor::read_interfaces(telemetry::Reading& reading) {
  if (interfaces_.empty()) return;
  const auto text = net_dev_.read(buffer_);
  const auto all = text ? parse_net_dev(*text) : std::map<std::string, Traffic, std::less<>>{};
  for (std::size_t i = 0; i < interfaces_.size(); ++i) {
    const auto it = all.find(interfaces_[i]);
    if (it != all.end())
      set_traffic(reading, 1 + i, it->second);
    else
      fail_all(reading, 1 + i, {kRx, kTx, kErrors}, text ? "the interface is gone" : text.error().message);
  }
}

void HostSensor::read_rdma(telemetry::Reading& reading) {
  for (std::size_t i = 0; i < rdma_.size(); ++i) {
    const auto device = 1 + interfaces_.size() + i;
    if (const auto traffic = read_rdma_port(tree_, rdma_[i]))
      set_traffic(reading, device, *traffic);
    else
      fail_all(reading, device, {kRx, kTx, kErrors}, traffic.error().message);
  }
}

void HostSensor::read_disks(telemetry::Reading& reading) {
  if (disks_.empty()) return;
  const auto text = diskstats_.read(buffer_);
  const auto all = text ? parse_diskstats(*text) : std::map<std::string, DiskCounters, std::less<>>{};
  for (std::size_t i = 0; i < disks_.size(); ++i) {
    const auto device = 1 + interfaces_.size() + rdma_.size() + i;
    const auto it = all.find(disks_[i]);
    if (it == all.end()) {
      fail_all(reading, device, {kRead, kWritten, kBusy}, text ? "the disk is gone" : text.error().message);
      continue;
    }
    reading.set_stored(device, kRead, it->second.read_bytes);
    reading.set_stored(device, kWritten, it->second.written_bytes);
    reading.set_stored(device, kBusy, it->second.busy_ms);
  }
}

bool HostSensor::follow(const telemetry::JobScope::Snapshot& job) {
  job_root_ = job.roots.empty() || job.whole_host ? 0 : job.roots.front();
  // Facts are asked for when the job has ended; what it may use is to be seen only while it lives.
  if (auto limits = limits_of_job(); !limits.empty()) limits_ = std::move(limits);
  return false;
}

std::vector<record::Fact> HostSensor::limits_of_job() const {
  std::vector<record::Fact> facts;
  const auto groups = Cgroups::of(tree_, job_root_);
  const auto allowed = cpus_allowed(tree_, job_root_);
  if (!allowed) return facts;
  const auto quota = groups.cpu_quota();
  facts.push_back(fact("host.cpus_allowed", *allowed, "/proc/PID/status"));
  facts.push_back(fact("host.cpu_budget", quota ? std::min(*quota, *allowed) : *allowed, "computed"));
  if (const auto set = groups.cpuset())
    facts.push_back(fact("host.cpuset_cpus", static_cast<double>(set->size()), "cgroup cpuset"));
  if (quota) facts.push_back(fact("host.cpu_quota", *quota, "cgroup " + groups.version()));
  if (const auto limit = groups.memory_limit_bytes())
    facts.push_back(fact("host.memory_limit_bytes", static_cast<double>(*limit), "cgroup " + groups.version()));
  facts.push_back(fact("host.cgroup_version", groups.version(), "/proc/PID/cgroup"));
  return facts;
}

std::vector<record::Fact> HostSensor::facts() {
  auto facts = limits_.empty() ? limits_of_job() : limits_;
  if (const auto text = tree_.read("proc/stat"))
    if (const auto cpus = std::ranges::count_if(core::split(*text, '\n'), is_cpu_line); cpus > 0)
      facts.push_back(fact("host.cpus", static_cast<double>(cpus), "/proc/stat"));
  if (const auto governor = tree_.read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"))
    facts.push_back(fact("host.governor", *governor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  if (const auto text = tree_.read("proc/meminfo"))
    if (const auto memory = parse_meminfo(*text))
      facts.push_back(fact("host.memory_bytes", static_cast<double>(memory->total_bytes), "/proc/meminfo"));
  struct statvfs shm {};
  if (tree_.exists("dev/shm") && ::statvfs(tree_.path("dev/shm").c_str(), &shm) == 0)
    facts.push_back(
        fact("host.shm_bytes", static_cast<double>(shm.f_blocks) * static_cast<double>(shm.f_frsize), "/dev/shm"));
  return facts;
}

}  // namespace gradwatt::proc
