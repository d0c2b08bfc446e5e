#include "gradwatt/backends/model/model_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradwatt/catalog/cpu_table.hpp"
#include "tests/doubles/made_tree.hpp"

namespace gradwatt::model {
namespace {

using namespace std::chrono_literals;
using record::DeviceKind;
using record::metric;

class ModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    made_
        .file("proc/cpuinfo",
              "processor : 0\nvendor_id : AuthenticAMD\nmodel name : AMD EPYC 7763 64-Core Processor\nphysical id : 0\n"
              "core id : 0\nflags : fpu\n\nprocessor : 1\nphysical id : 1\ncore id : 0\n")
        .file("proc/stat", "cpu 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0");
  }
  std::unique_ptr<telemetry::Sensor> open(std::vector<DeviceKind> covered = {}) {
    auto sensors = ModelBackend(made_.tree()).open({clock_, job_, 1s, std::move(covered)});
    return sensors && !sensors->empty() ? std::move(sensors->front()) : nullptr;
  }
  static telemetry::Reading read(telemetry::Sensor& sensor, core::Duration at = 0s) {
    telemetry::Reading reading{core::Instant(at)};
    sensor.read(reading);
    return reading;
  }
  static std::optional<std::int64_t> value(const telemetry::Reading& reading, std::size_t device, record::MetricId id) {
    for (const auto& cell : reading.cells())
      if (cell.device == device && cell.metric == id) return cell.stored;
    return std::nullopt;
  }
  doubles::MadeTree made_;
  core::SystemClock clock_;
  telemetry::JobScope::Snapshot job_;
};

TEST_F(ModelTest, EachPackageFollowsItsOwnUtilisation) {
  auto sensor = open();
  ASSERT_NE(sensor, nullptr);
  made_.file("proc/stat", "cpu 0 0 0 0\ncpu0 100 0 0 0 0 0 0 0\ncpu1 0 0 0 90 10 0 0 0");
  const auto reading = read(*sensor);
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::cpu, "power")), 280'000);
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::cpu, "utilization")), 1000);
  EXPECT_EQ(value(reading, 1, metric(DeviceKind::cpu, "power")), 33'600);
  EXPECT_EQ(value(reading, 1, metric(DeviceKind::cpu, "utilization")), 0);
}

TEST_F(ModelTest, EnergyCountsFromTheFirstReadingWithoutAGap) {
  auto sensor = open();
  const auto energy = metric(DeviceKind::cpu, "energy");
  EXPECT_EQ(value(read(*sensor, 10s), 0, energy), 0);
  made_.file("proc/stat", "cpu 0 0 0 0\ncpu0 100 0 0 0 0 0 0 0\ncpu1 0 0 0 90 10 0 0 0");
  EXPECT_EQ(value(read(*sensor, 12s), 0, energy), 560'000'000);  // 280 W for 2 s, in µJ
  EXPECT_EQ(value(read(*sensor, 12s), 0, energy), std::nullopt);
}

TEST_F(ModelTest, EveryPowerIsLabelledModelledWithARangeAndWhatItRestsOn) {
  auto sensor = open();
  const auto devices = sensor->devices();
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[2].device.kind, DeviceKind::dram);
  for (const auto& device : devices) {
    const auto& power = device.series.front();
    EXPECT_EQ(power.how, record::How::modelled);
    EXPECT_LT(power.range_low.value(), 1);
    EXPECT_GT(power.range_high.value(), 1);
    EXPECT_FALSE(power.note.empty());
  }
}

TEST_F(ModelTest, OnlyWhatNothingMeasuresIsModelled) {
  auto sensor = open({DeviceKind::cpu});
  ASSERT_NE(sensor, nullptr);
  ASSERT_EQ(sensor->devices().size(), 1u);
  EXPECT_EQ(sensor->devices()[0].device.kind, DeviceKind::dram);
  EXPECT_GT(value(read(*sensor), 0, metric(DeviceKind::dram, "power")).value_or(0), 0);
  EXPECT_EQ(open({DeviceKind::cpu, DeviceKind::dram}), nullptr);
}

TEST_F(ModelTest, MemoryInsideABoardsCpuMeterIsNotModelledBesideIt) {
  made_.file("proc/cpuinfo", "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd4f\n")
      .file("sys/devices/system/edac/mc/mc0/dimm0/size", "65536");
  EXPECT_EQ(open({DeviceKind::cpu}), nullptr);
}

TEST_F(ModelTest, AnUnreadableStatFileIsAFailureAndTheNextReadingSpansTheGap) {
  auto sensor = open();
  made_.remove("proc/stat");
  auto reading = read(*sensor);
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::cpu, "power")), record::kMissing);
  EXPECT_GE(reading.failures().size(), 2u);
  made_.file("proc/stat", "cpu 0\ncpu0 50 0 0 50 0 0 0 0\ncpu1 x");
  reading = read(*sensor);
  EXPECT_EQ(value(reading, 0, metric(DeviceKind::cpu, "utilization")), 500);
  EXPECT_FALSE(value(reading, 1, metric(DeviceKind::cpu, "utilization")));
}

TEST_F(ModelTest, StolenTimeIsNotTheGuestsWork) {
  auto sensor = open();
  made_.file("proc/stat", "cpu0 20 0 0 20 0 0 0 60\ncpu1 0 0 0 10 0 0 0 0");
  EXPECT_EQ(value(read(*sensor), 0, metric(DeviceKind::cpu, "utilization")), 200);
}

TEST_F(ModelTest, ClocksAreReadRarelyAndOnlyWhereTheKernelTellsThem) {
  made_.file("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2450000");
  auto sensor = open();
  EXPECT_EQ(value(read(*sensor, 1s), 0, metric(DeviceKind::cpu, "clock")), 2450);
  EXPECT_FALSE(value(read(*sensor, 2s), 0, metric(DeviceKind::cpu, "clock")));
  EXPECT_EQ(value(read(*sensor, 11s), 0, metric(DeviceKind::cpu, "clock")), 2450);
  EXPECT_FALSE(value(read(*sensor, 21s), 1, metric(DeviceKind::cpu, "clock")));
}

TEST_F(ModelTest, ProbeSaysRangeAndReason) {
  const auto lines = ModelBackend(made_.tree()).probe();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_TRUE(lines[0].usable);
  EXPECT_THAT(lines[0].detail, ::testing::HasSubstr("280 W"));
  const doubles::MadeTree empty;
  const auto none = ModelBackend(empty.tree()).probe();
  EXPECT_FALSE(none[0].usable);
  EXPECT_FALSE(none[1].usable);
  EXPECT_FALSE(none[1].detail.empty());
}

}  // namespace
}  // namespace gradwatt::model
