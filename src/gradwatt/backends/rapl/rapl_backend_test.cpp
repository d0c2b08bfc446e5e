#include "gradwatt/backends/rapl/rapl_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::rapl {
namespace {

using record::DeviceKind;
using ::testing::HasSubstr;

constexpr auto kCpuEnergy = record::metric(DeviceKind::cpu, "energy");

/// Energy by CPU and event, turned by hand.
class FakePerf final : public PerfEvents {
 public:
  struct Counter final : PerfCounter {
    Counter(FakePerf& owner, std::pair<int, std::uint64_t> which) : owner_(owner), which_(which) {}
    core::Result<std::uint64_t> read() override {
      if (owner_.lost) return core::fail(core::Errc::lost, "the perf event is in error state");
      return owner_.counts[which_];
    }
    FakePerf& owner_;
    std::pair<int, std::uint64_t> which_;
  };
  core::Result<std::unique_ptr<PerfCounter>> open(std::uint32_t, std::uint64_t config, int cpu) override {
    if (refuse) return core::fail(core::Errc::not_permitted, "perf_event_open failed: Permission denied");
    return std::make_unique<Counter>(*this, std::pair{cpu, config});
  }
  std::map<std::pair<int, std::uint64_t>, std::uint64_t> counts;
  bool refuse = false;
  bool lost = false;
};

class RaplTest : public ::testing::Test {
 protected:
  void cpuinfo(const std::string& vendor, const std::string& model, const std::string& flags = "fpu") {
    made_.file("proc/cpuinfo", "processor : 0\nvendor_id : " + vendor + "\nmodel name : " + model +
                                   "\nphysical id : 0\ncore id : 0\nflags : " + flags + "\n");
  }
  void pmu(const std::string& mask, bool ram) {
    const std::string base = "sys/bus/event_source/devices/power/";
    made_.file(base + "type", "24").file(base + "cpumask", mask);
    for (const auto& [name, code] :
         std::map<std::string, std::string>{{"energy-pkg", "0x02"}, {"energy-ram", "0x03"}}) {
      if (name == "energy-ram" && !ram) continue;
      made_.file(base + "events/" + name, "event=" + code)
          .file(base + "events/" + name + ".scale", "2.3283064365386962890625e-10")
          .file(base + "events/" + name + ".unit", "Joules");
    }
  }
  void package_of_cpu(int cpu, int package) {
    made_.file("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/physical_package_id",
               std::to_string(package));
  }
  void zone(const std::string& entry, const std::string& name, const std::string& energy) {
    const auto base = "sys/class/powercap/" + entry;
    made_.file(base + "/name", name)
        .file(base + "/energy_uj", energy)
        .file(base + "/max_energy_range_uj", "262143328850");
  }
  RaplBackend backend() { return RaplBackend(made_.tree(), perf_); }
  std::unique_ptr<telemetry::Sensor> open_one(std::vector<DeviceKind> covered = {}) {
    auto sensors = backend().open({clock_, job_, std::chrono::seconds(1), std::move(covered)});
    if (!sensors || sensors->empty()) return nullptr;
    return std::move(sensors->front());
  }
  static telemetry::Reading read(telemetry::Sensor& sensor) {
    telemetry::Reading reading(core::Instant{});
    sensor.read(reading);
    return reading;
  }

  doubles::MadeTree made_;
  std::shared_ptr<FakePerf> perf_ = std::make_shared<FakePerf>();
  core::SystemClock clock_;
  telemetry::JobScope::Snapshot job_;
};

TEST_F(RaplTest, PerfEventsComeFirstAndPowercapIsNotCountedBesideThem) {
  cpuinfo("GenuineIntel", "Intel(R) Xeon(R) Platinum 8480+");
  pmu("0,56", true);
  package_of_cpu(0, 0);
  package_of_cpu(56, 1);
  zone("intel-rapl:0", "package-0", "1");
  zone("intel-rapl:1", "package-1", "1");
  auto sensor = open_one();
  ASSERT_NE(sensor, nullptr);
  const auto devices = sensor->devices();
  ASSERT_EQ(devices.size(), 4u);
  EXPECT_EQ(devices[0].device.uuid, "cpu-package-0");
  EXPECT_EQ(devices[1].device.uuid, "cpu-package-1");
  EXPECT_EQ(devices[2].device.uuid, "dram-package-0");
  EXPECT_EQ(devices[0].series[0].source, "perf power/energy-pkg");
  EXPECT_FALSE(devices[0].series[0].counter_range);
  EXPECT_DOUBLE_EQ(*devices[0].series[0].max_rate, 1.5 * 350);

  perf_->counts[{0, 2}] = 5ull << 32;  // 5 J in steps of 2^-32 J
  perf_->counts[{56, 2}] = 7ull << 32;
  const auto reading = read(*sensor);
  ASSERT_EQ(reading.cells().size(), 4u);
  EXPECT_EQ(reading.cells()[0].stored, 5'000'000);
  EXPECT_EQ(reading.cells()[1].stored, 7'000'000);
}

TEST_F(RaplTest, ALostPerfEventIsAFailedReadingAndNeverZero) {
  cpuinfo("GenuineIntel", "");
  pmu("0", false);
  auto sensor = open_one();
  ASSERT_NE(sensor, nullptr);
  perf_->lost = true;
  const auto reading = read(*sensor);
  ASSERT_EQ(reading.cells().size(), 1u);
  EXPECT_EQ(reading.cells()[0].stored, record::kMissing);
  EXPECT_EQ(reading.failures().size(), 1u);
}

TEST_F(RaplTest, MemoryThatPerfLacksComesFromPowercap) {
  cpuinfo("GenuineIntel", "");
  pmu("0", false);
  zone("intel-rapl:0", "package-0", "1");
  zone("intel-rapl:0:0", "dram", "42");
  auto sensor = open_one();
  ASSERT_NE(sensor, nullptr);
  ASSERT_EQ(sensor->devices().size(), 2u);
  EXPECT_EQ(sensor->devices()[1].series[0].source, "powercap intel-rapl:0:0");
  EXPECT_EQ(read(*sensor).cells()[1].stored, 42);
}

TEST_F(RaplTest, PowercapStatesItsRangeAndItsBound) {
  cpuinfo("GenuineIntel", "Intel(R) Xeon(R) CPU");
  zone("intel-rapl:0", "package-0-die-0", "100");
  zone("intel-rapl:1", "package-0-die-1", "200");
  made_.file("sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw", "205000000");
  auto sensor = open_one();
  ASSERT_NE(sensor, nullptr);
  const auto devices = sensor->devices();
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[1].device.uuid, "cpu-package-0-die-1");
  EXPECT_DOUBLE_EQ(*devices[0].series[0].counter_range, 262143.328850);
  EXPECT_DOUBLE_EQ(*devices[0].series[0].max_rate, 1.5 * 205);
  EXPECT_DOUBLE_EQ(*devices[1].series[0].max_rate, 1.5 * 1000);
  EXPECT_EQ(devices[0].series[0].how, record::How::counter);
}

TEST_F(RaplTest, AFileThatVanishesOrTurnsToGarbageInMidRunIsAGapOfThatDeviceOnly) {
  cpuinfo("GenuineIntel", "");
  zone("intel-rapl:0", "package-0", "100");
  zone("intel-rapl:1", "package-1", "200");
  zone("intel-rapl:2", "package-2", "300");
  auto sensor = open_one();
  ASSERT_NE(sensor, nullptr);
  made_.remove("sys/class/powercap/intel-rapl:0/energy_uj").file("sys/class/powercap/intel-rapl:1/energy_uj", "###");
  const auto reading = read(*sensor);
  EXPECT_EQ(reading.cells()[0].stored, record::kMissing);
  EXPECT_EQ(reading.cells()[1].stored, record::kMissing);
  EXPECT_EQ(reading.cells()[2].stored, 300);
  ASSERT_EQ(reading.failures().size(), 2u);
  EXPECT_FALSE(reading.failures()[0].lost);
  EXPECT_THAT(reading.failures()[1].reason, HasSubstr("###"));
}

TEST_F(RaplTest, ACounterThatCannotBeReadAtTheStartHidesNoHalfMachine) {
  cpuinfo("GenuineIntel", "");
  zone("intel-rapl:0", "package-0", "100");
  zone("intel-rapl:1", "package-1", "not a number");
  EXPECT_EQ(open_one(), nullptr);
}

TEST_F(RaplTest, KindsThatAStrongerSourceCoversAreLeftOut) {
  cpuinfo("GenuineIntel", "");
  zone("intel-rapl:0", "package-0", "100");
  zone("intel-rapl:0:0", "dram", "1");
  auto sensor = open_one({DeviceKind::cpu});
  ASSERT_NE(sensor, nullptr);
  ASSERT_EQ(sensor->devices().size(), 1u);
  EXPECT_EQ(sensor->devices()[0].device.kind, DeviceKind::dram);
}

TEST_F(RaplTest, RefusedPerfGetsExactlyOneRemedy) {
  cpuinfo("GenuineIntel", "");
  pmu("0", true);
  perf_->refuse = true;
  zone("intel-rapl:0", "package-0", "1");
  made_.remove("sys/class/powercap/intel-rapl:0/energy_uj");
  const auto lines = backend().probe();
  int remedies = 0;
  for (const auto& line : lines) {
    EXPECT_FALSE(line.usable);
    remedies += line.remedy.empty() ? 0 : 1;
  }
  EXPECT_EQ(remedies, 1);
  EXPECT_THAT(lines[0].remedy, HasSubstr("setcap cap_perfmon=ep"));
  EXPECT_EQ(open_one(), nullptr);
}

TEST_F(RaplTest, RefusedPowercapAloneNamesTheFilesToOpen) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read every file";
  cpuinfo("GenuineIntel", "");
  zone("intel-rapl:0", "package-0", "1");
  std::filesystem::permissions(made_.path("sys/class/powercap/intel-rapl:0/energy_uj"), std::filesystem::perms::none);
  const auto lines = backend().probe();
  EXPECT_THAT(lines[1].remedy, HasSubstr("/sys/class/powercap/intel-rapl:*/energy_uj"));
}

TEST_F(RaplTest, AVirtualMachineWithoutCountersIsToldSo) {
  cpuinfo("GenuineIntel", "Intel(R) Xeon(R) Processor", "fpu hypervisor");
  const auto lines = backend().probe();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0].detail, HasSubstr("virtual machine"));
  EXPECT_TRUE(lines[0].remedy.empty());
  EXPECT_EQ(open_one(), nullptr);
}

TEST_F(RaplTest, AMaskedTreeIsToldAsAContainer) {
  cpuinfo("GenuineIntel", "");
  made_.broken_link("sys/class/powercap/intel-rapl:0");
  const auto lines = backend().probe();
  EXPECT_THAT(lines[1].detail, HasSubstr("containers"));
  EXPECT_THAT(lines[1].remedy, HasSubstr("systempaths=unconfined"));
}

TEST_F(RaplTest, AmdWithoutAMemoryDomainIsExplained) {
  cpuinfo("AuthenticAMD", "AMD EPYC 7763 64-Core Processor");
  pmu("0", false);
  const auto lines = backend().probe();
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].usable);
  EXPECT_FALSE(lines[2].usable);
  EXPECT_THAT(lines[2].detail, HasSubstr("AMD"));
  auto sensor = open_one();
  EXPECT_DOUBLE_EQ(*sensor->devices()[0].series[0].max_rate, 1.5 * 280);
  EXPECT_THAT(sensor->devices()[0].series[0].note, HasSubstr("AMD"));
}

TEST_F(RaplTest, AnEmptyMachineIsNoError) {
  auto sensors = backend().open({clock_, job_, std::chrono::seconds(1), {}});
  ASSERT_TRUE(sensors);
  EXPECT_TRUE(sensors->empty());
  EXPECT_FALSE(backend().probe().empty());
}

TEST(SystemPerfEvents, RefuseAnEventTypeThatDoesNotExist) {
  const auto opened = system_perf_events()->open(0xfffffff0u, 1, 0);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("perf_event_open"));
}

}  // namespace
}  // namespace gradwatt::rapl
