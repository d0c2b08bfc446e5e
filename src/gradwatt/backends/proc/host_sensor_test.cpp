#include "gradwatt/backends/proc/host_sensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gradwatt/backends/proc/proc_backend.hpp"
#include "tests/doubles/made_tree.hpp"

namespace gradwatt::proc {
namespace {

using record::DeviceKind;
using record::metric;

class HostSensorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    made_.file("proc/stat", "cpu 100 0 0 900 0 0 0 0\nctxt 10\nprocs_running 2\nprocs_blocked 1")
        .file("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\nCached: 100 kB")
        .file("proc/pressure/cpu", "some avg10=0 total=5")
        .file("proc/net/dev", "eth0: 1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0")
        .file("proc/diskstats", "259 0 nvme0n1 1 1 100 1 1 1 200 1 0 7 1")
        .folder("sys/class/net/eth0/device")
        .folder("sys/block/nvme0n1/device")
        .file("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "10")
        .file("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "20");
  }
  static telemetry::Reading read(telemetry::Sensor& sensor) {
    telemetry::Reading reading(core::Instant{});
    sensor.read(reading);
    return reading;
  }
  static std::optional<std::int64_t> value(const telemetry::Reading& reading, std::size_t device, record::MetricId id) {
    for (const auto& cell : reading.cells())
      if (cell.device == device && cell.metric == id) return cell.stored;
    return std::nullopt;
  }
  doubles::MadeTree made_;
};

TEST_F(HostSensorTest, ListsNodePortsAndDisks) {
  HostSensor sensor(made_.tree());
  std::vector<std::string> uuids;
  for (const auto& device : sensor.devices()) uuids.push_back(device.device.uuid);
  EXPECT_EQ(uuids, (std::vector<std::string>{"node", "eth0", "mlx5_0/1", "nvme0n1"}));
  EXPECT_EQ(sensor.devices()[0].device.attributes.at("memory_bytes"), "1024000");
}

TEST_F(HostSensorTest, ReadsEverythingOfATick) {
  HostSensor sensor(made_.tree());
  made_.file("proc/stat", "cpu 160 0 0 930 10 0 0 0\nctxt 30\nprocs_running 3\nprocs_blocked 0");
  const auto reading = read(sensor);
  EXPECT_TRUE(reading.failures().empty());
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::node, "cpu_utilization")), 600);
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::node, "iowait")), 100);
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::node, "memory_used")), 600 * 1024);
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::node, "context_switches")), 30);
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::node, "pressure_cpu")), 5);
  EXPECT_EQ(value(reading, 1, metric(DeviceKind::nic, "tx")), 2000);
  EXPECT_EQ(value(reading, 2, metric(DeviceKind::nic, "rx")), 40);
  EXPECT_EQ(value(reading, 3, metric(DeviceKind::disk, "written")), 200 * 512);
}

TEST_F(HostSensorTest, AKernelWithoutPressureHasNoSuchSeries) {
  made_.remove("proc/pressure");
  HostSensor sensor(made_.tree());
  const auto devices = sensor.devices();
  for (const auto& series : devices[0].series) EXPECT_FALSE(record::info(series.metric).name.starts_with("pressure"));
  EXPECT_FALSE(value(read(sensor), 0, metric(DeviceKind::node, "pressure_cpu")));
}

TEST_F(HostSensorTest, WhatGoesAwayInMidRunIsAFailedReadingOfThatDeviceOnly) {
  HostSensor sensor(made_.tree());
  made_.file("proc/net/dev", "lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0")
      .file("proc/diskstats", "")
      .file("proc/meminfo", "MemTotal: ? kB")
      .remove("sys/class/infiniband");
  const auto reading = read(sensor);
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::node, "memory_used")), record::kMissing);
  EXPECT_EQ(value(reading, 1, metric(DeviceKind::nic, "rx")), record::kMissing);
  EXPECT_EQ(value(reading, 2, metric(DeviceKind::nic, "rx")), record::kMissing);
  EXPECT_EQ(value(reading, 3, metric(DeviceKind::disk, "read")), record::kMissing);
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::node, "threads_running")), 2);
}

TEST_F(HostSensorTest, EverySeriesThatItPromisesIsReadAtEveryTick) {
  HostSensor sensor(made_.tree());
  made_.file("proc/stat", "cpu 160 0 0 930 10 0 0 0\nctxt 30\nprocs_running 3\nprocs_blocked 0");
  const auto reading = read(sensor);
  std::set<std::pair<std::size_t, record::MetricId>> promised, kept;
  const auto devices = sensor.devices();
  for (std::size_t i = 0; i < devices.size(); ++i)
    for (const auto& series : devices[i].series) promised.emplace(i, series.metric);
  for (const auto& cell : reading.cells()) kept.emplace(cell.device, cell.metric);
  EXPECT_EQ(promised, kept);
}

TEST_F(HostSensorTest, FactsSayWhatTheJobMayUse) {
  made_.file("proc/self/mountinfo", "40 25 0:35 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
      .file("proc/7/cgroup", "0::/job")
      .file("proc/7/status", "Name: python3\nCpus_allowed_list:\t0-3,8\n")
      .file("sys/fs/cgroup/job/cpu.max", "250000 100000")
      .file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave")
      .folder("dev/shm");
  HostSensor sensor(made_.tree());
  telemetry::JobScope::Snapshot job;
  job.roots = {7};
  sensor.follow(job);
  made_.remove("proc/7");  // facts are asked for when the job has ended
  const auto facts = sensor.facts();
  const auto number = [&](std::string_view name) {
    const auto it = std::ranges::find(facts, name, &record::Fact::name);
    return it == facts.end() ? std::nullopt : record::as_number(*it);
  };
  EXPECT_EQ(number("host.cpus_allowed"), 5);
  EXPECT_EQ(number("host.cpu_quota"), 2.5);
  EXPECT_EQ(number("host.cpu_budget"), 2.5);
  EXPECT_GT(number("host.shm_bytes").value_or(0), 0);
  for (const auto& fact : facts) EXPECT_NE(record::find_fact(fact.name), nullptr) << fact.name;
}

TEST_F(HostSensorTest, TheBackendOpensHostAndJobAndNothingWithoutProc) {
  core::SystemClock clock;
  telemetry::JobScope::Snapshot job;
  const telemetry::OpenContext context{clock, job, std::chrono::seconds(1), {}};
  const auto sensors = ProcBackend(made_.tree()).open(context);
  ASSERT_TRUE(sensors);
  EXPECT_EQ(sensors->size(), 2u);
  const doubles::MadeTree empty;
  EXPECT_TRUE(ProcBackend(empty.tree()).open(context)->empty());
  const auto lines = ProcBackend(empty.tree()).probe();
  EXPECT_FALSE(lines[0].usable);
  EXPECT_FALSE(lines[0].remedy.empty());
}

TEST(RealHost, ReadsThisMachineWithoutAFailure) {
  HostSensor sensor(core::FileTree{});
  telemetry::Reading reading(core::Instant{});
  sensor.read(reading);
  for (const auto& failure : reading.failures()) ADD_FAILURE() << failure.reason;
  EXPECT_FALSE(sensor.facts().empty());
}

}  // namespace
}  // namespace gradwatt::proc
