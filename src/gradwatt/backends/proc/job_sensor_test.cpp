#include "gradwatt/backends/proc/job_sensor.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/doubles/hand_clock.hpp"
#include "tests/doubles/made_process.hpp"

namespace gradwatt::proc {
namespace {

using namespace std::chrono_literals;
using doubles::put;
using record::DeviceKind;
using record::metric;
constexpr auto kCpuTime = metric(DeviceKind::job, "cpu_time");
constexpr auto kWorkers = metric(DeviceKind::job, "workers");

class JobSensorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    doubles::put_newest_pid(made_, 50);
    job_.roots = {10};
    put(made_, {.pid = 10, .own_ticks = 150, .threads = 4, .resident_pages = 7});
    doubles::put_thread(made_, 10, 10, 'R', 500);
  }
  void open() { sensor_ = std::make_unique<JobSensor>(made_.tree(), clock_, job_, asked_, JobSensor::Options{}); }
  telemetry::Reading tick() {
    clock_.advance(1s);
    telemetry::Reading reading(clock_.now());
    sensor_->read(reading);
    while (sensor_->backlog()) sensor_->catch_up();
    return reading;
  }
  static std::optional<std::int64_t> value(const telemetry::Reading& reading, record::MetricId id) {
    for (const auto& cell : reading.cells())
      if (cell.metric == id) return cell.stored;
    return std::nullopt;
  }
  /// A group of the job's own, version 2; gradwatt itself is in another.
  void own_group(const std::string& members, long usage_us) {
    made_.file("proc/self/mountinfo", "40 25 0:35 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
        .file("proc/self/cgroup", "0::/ours")
        .file("proc/10/cgroup", "0::/job")
        .file("sys/fs/cgroup/job/cgroup.procs", members)
        .file("sys/fs/cgroup/job/cpu.stat", "usage_usec " + std::to_string(usage_us) + "\nthrottled_usec 9");
  }

  doubles::MadeTree made_;
  doubles::HandClock clock_;
  telemetry::JobScope::Snapshot job_;
  std::shared_ptr<std::atomic<bool>> asked_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<JobSensor> sensor_;
};

TEST_F(JobSensorTest, ReadsTotalsOfTheTree) {
  doubles::put_io(made_, 10, 4096, 0);
  open();
  const auto reading = tick();
  EXPECT_EQ(value(reading, kCpuTime), 1'500'000);
  EXPECT_EQ(value(reading, metric(DeviceKind::job, "memory")), 7 * 4096);
  EXPECT_EQ(value(reading, metric(DeviceKind::job, "threads")), 4);
  EXPECT_EQ(value(reading, metric(DeviceKind::job, "processes")), 1);
  EXPECT_EQ(value(reading, metric(DeviceKind::job, "read")), 4096);
}

TEST_F(JobSensorTest, BeforeTheJobBeginsThereIsNothingToReadAndNoFailure) {
  job_.roots.clear();
  open();
  const auto reading = tick();
  EXPECT_TRUE(reading.cells().empty());
  EXPECT_TRUE(reading.failures().empty());
}

TEST_F(JobSensorTest, UnreadableStorageBytesAreAFailureAndNotZero) {
  open();
  EXPECT_EQ(value(tick(), metric(DeviceKind::job, "read")), record::kMissing);
}

TEST_F(JobSensorTest, TheCensusComesSoonAtFirstAndLaterEveryTenSeconds) {
  open();
  EXPECT_FALSE(value(tick(), kWorkers)) << "it is taken between the ticks";
  EXPECT_EQ(value(tick(), kWorkers), 0);
  const auto censuses_in = [&](int ticks) {
    int count = 0;
    for (int i = 0; i < ticks; ++i) count += value(tick(), kWorkers).has_value() ? 1 : 0;
    return count;
  };
  EXPECT_GE(censuses_in(10), 2);
  censuses_in(40);
  EXPECT_NEAR(censuses_in(100), 10, 1);
  EXPECT_EQ(value(tick(), kWorkers) ? 1 : censuses_in(10), 1);
}

TEST_F(JobSensorTest, ACensusThatIsAskedForComesAtOnce) {
  open();
  tick();
  EXPECT_EQ(value(tick(), kWorkers), 0);
  EXPECT_FALSE(value(tick(), kWorkers));
  asked_->store(true);
  EXPECT_TRUE(value(tick(), kWorkers));
}

TEST_F(JobSensorTest, UntilAllProcessesAreFoundNothingIsDueAndNothingFails) {
  for (pid_t pid = 100; pid < 300; ++pid) put(made_, {.pid = pid, .parent = 10});
  open();
  clock_.step_at_each_look(100us);
  telemetry::Reading first(clock_.now());
  sensor_->read(first);
  EXPECT_TRUE(first.cells().empty());
  EXPECT_TRUE(first.failures().empty());
  EXPECT_TRUE(sensor_->backlog());
}

TEST_F(JobSensorTest, AGroupOfTheJobsOwnGivesItsCpuTime) {
  own_group("10", 1'234'567);
  open();
  const auto reading = tick();
  EXPECT_EQ(value(reading, kCpuTime), 1'234'567);
  EXPECT_EQ(value(reading, metric(DeviceKind::job, "cpu_throttled")), 9);
}

TEST_F(JobSensorTest, AGroupThatHoldsStrangersIsNotTheJobs) {
  own_group("10\n99", 1'234'567);
  open();
  EXPECT_EQ(value(tick(), kCpuTime), 1'500'000);
}

TEST_F(JobSensorTest, OurOwnGroupIsNotTheJobs) {
  own_group("10", 1'234'567);
  made_.file("proc/self/cgroup", "0::/job");
  open();
  EXPECT_EQ(value(tick(), kCpuTime), 1'500'000);
}

TEST_F(JobSensorTest, WhenAStrangerEntersTheGroupTheTreeGoesOnWithoutAJump) {
  own_group("10", 2'000'000);
  open();
  EXPECT_EQ(value(tick(), kCpuTime), 2'000'000);
  made_.file("sys/fs/cgroup/job/cgroup.procs", "10\n99");
  for (int i = 0; i < 11; ++i) tick();
  put(made_, {.pid = 10, .own_ticks = 160, .threads = 4});
  EXPECT_EQ(value(tick(), kCpuTime), 2'100'000);
}

TEST_F(JobSensorTest, AGroupThatIsRemovedWithTheJobLeavesTheLastTotal) {
  own_group("10", 2'000'000);
  open();
  tick();
  doubles::bury(made_, 10);
  made_.remove("sys/fs/cgroup/job");
  EXPECT_EQ(value(tick(), kCpuTime), 2'000'000);
}

TEST_F(JobSensorTest, TheWholeHostCountsAsTheJobWhenAskedFor) {
  job_.roots.clear();
  job_.whole_host = true;
  made_.file("proc/stat", "cpu 100 0 100 900 50 0 0 7")
      .file("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\nCached: 100 kB")
      .file("proc/loadavg", "0.2 0.1 0.1 3/420 50")
      .file("proc/diskstats", "259 0 nvme0n1 1 1 100 1 1 1 200 1 0 7 1")
      .folder("sys/block/nvme0n1/device");
  open();
  const auto reading = tick();
  EXPECT_EQ(value(reading, kCpuTime), 2'000'000);
  EXPECT_EQ(value(reading, metric(DeviceKind::job, "threads")), 420);
  EXPECT_EQ(value(reading, metric(DeviceKind::job, "written")), 200 * 512);
  EXPECT_EQ(sensor_->devices()[0].series[0].scope, "host");
}

TEST_F(JobSensorTest, EverySeriesThatItPromisesIsReadWhenDue) {
  doubles::put_io(made_, 10, 1, 1);
  own_group("10", 5);
  open();
  const auto first = tick(), second = tick();  // the census that the first began is in the second
  const auto devices = sensor_->devices();
  for (const auto& series : devices[0].series)
    EXPECT_TRUE(value(first, series.metric) || value(second, series.metric)) << record::info(series.metric).name;
}

}  // namespace
}  // namespace gradwatt::proc
