#include "gradwatt/backends/hwmon/hwmon_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::hwmon {
namespace {

using namespace std::chrono_literals;
using record::DeviceKind;
using ::testing::HasSubstr;

class HwmonTest : public ::testing::Test {
 protected:
  void meter(int n, const std::string& label, const std::string& microwatts, const std::string& interval_ms) {
    const auto base = "sys/class/hwmon/hwmon" + std::to_string(n);
    made_.file(base + "/name", "power_meter")
        .file(base + "/device/power1_average", microwatts)
        .file(base + "/device/power1_average_interval", interval_ms)
        .file(base + "/device/power1_oem_info", label);
  }
  void amd_socket() {
    const std::string base = "sys/class/hwmon/hwmon5";
    made_.file(base + "/name", "amd_energy")
        .file(base + "/energy9_input", "777")
        .file(base + "/energy9_label", "Esocket0");
  }
  std::unique_ptr<telemetry::Sensor> open(std::vector<DeviceKind> covered = {}) {
    auto sensors = HwmonBackend(made_.tree()).open({clock_, job_, 1s, std::move(covered)});
    return sensors && !sensors->empty() ? std::move(sensors->front()) : nullptr;
  }
  static telemetry::Reading read(telemetry::Sensor& sensor, core::Duration at) {
    telemetry::Reading reading{core::Instant(at)};
    sensor.read(reading);
    return reading;
  }
  doubles::MadeTree made_;
  core::SystemClock clock_;
  telemetry::JobScope::Snapshot job_;
};

TEST_F(HwmonTest, PowerOfAGraceSocketIsIntegratedAndSaysWhatItCovers) {
  meter(0, "Grace Power Socket 0", "151500000", "50");
  auto sensor = open();
  ASSERT_NE(sensor, nullptr);
  const auto devices = sensor->devices();
  EXPECT_EQ(devices[0].series[0].how, record::How::integrated);
  EXPECT_EQ(devices[0].series[0].scope, "package and memory");
  EXPECT_EQ(devices[0].series[0].cadence, 0s);
  EXPECT_EQ(read(*sensor, 0s).cells()[0].stored, 151500);
}

TEST_F(HwmonTest, ASlowMeterIsNotReadMoreOftenThanItAverages) {
  meter(0, "system power", "500000000", "4000");
  auto sensor = open();
  ASSERT_NE(sensor, nullptr);
  EXPECT_EQ(sensor->devices()[0].series[0].cadence, 4s);
  int readings = 0;
  for (int second = 10; second < 22; ++second) readings += static_cast<int>(read(*sensor, 1s * second).cells().size());
  EXPECT_EQ(readings, 3);
}

TEST_F(HwmonTest, SocketEnergyIsACounterInMicrojoules) {
  amd_socket();
  auto sensor = open();
  ASSERT_NE(sensor, nullptr);
  EXPECT_EQ(sensor->devices()[0].series[0].how, record::How::counter);
  EXPECT_EQ(read(*sensor, 0s).cells()[0].stored, 777);
}

TEST_F(HwmonTest, ACpuThatIsMeasuredAlreadyIsNotCountedAgainANodeMeterStays) {
  amd_socket();
  meter(0, "chassis", "1", "1000");
  auto sensor = open({DeviceKind::cpu});
  ASSERT_NE(sensor, nullptr);
  ASSERT_EQ(sensor->devices().size(), 1u);
  EXPECT_EQ(sensor->devices()[0].device.kind, DeviceKind::node);
}

TEST_F(HwmonTest, AMeterThatVanishesOrTalksNonsenseInMidRunIsAFailureAndNeverZero) {
  meter(0, "Grace Power Socket 0", "1000000", "50");
  meter(1, "Grace Power Socket 1", "1000000", "50");
  meter(2, "Module Power Socket 0", "1000000", "50");
  auto sensor = open();
  ASSERT_NE(sensor, nullptr);
  made_.remove("sys/class/hwmon/hwmon0").file("sys/class/hwmon/hwmon1/device/power1_average", "-5");
  made_.file("sys/class/hwmon/hwmon2/device/power1_average", "N/A");
  const auto reading = read(*sensor, 0s);
  EXPECT_EQ(reading.failures().size(), 3u);
  for (const auto& cell : reading.cells()) EXPECT_EQ(cell.stored, record::kMissing);
}

TEST_F(HwmonTest, ProbeNamesWhatCountsAndWhatDoesNot) {
  meter(0, "Module Power Socket 0", "1000000", "50");
  meter(1, "CPU Power Socket 0", "1000000", "50");
  const auto lines = HwmonBackend(made_.tree()).probe();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].usable);
  EXPECT_THAT(lines[0].detail, HasSubstr("superchip module 0"));
  EXPECT_THAT(lines[0].detail, HasSubstr("inside the Grace meter"));
}

TEST_F(HwmonTest, AMachineWithoutMetersIsNoError) {
  EXPECT_EQ(open(), nullptr);
  const auto lines = HwmonBackend(made_.tree()).probe();
  EXPECT_FALSE(lines[0].usable);
  EXPECT_FALSE(lines[0].detail.empty());
}

TEST_F(HwmonTest, AMeterThatMayNotBeReadGetsTheLineThatOpensIt) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  meter(0, "chassis", "1", "1000");
  std::filesystem::permissions(made_.path("sys/class/hwmon/hwmon0/device/power1_average"),
                               std::filesystem::perms::none);
  const auto lines = HwmonBackend(made_.tree()).probe();
  EXPECT_FALSE(lines[0].usable);
  EXPECT_THAT(lines[0].remedy, HasSubstr("power1_average"));
}

}  // namespace
}  // namespace gradwatt::hwmon
