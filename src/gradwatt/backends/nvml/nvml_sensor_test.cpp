// The sensor over all device classes that the fake driver plays.
#include "gradwatt/backends/nvml/nvml_sensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gradwatt/backends/nvml/metrics.hpp"
#include "gradwatt/backends/nvml/nvml_backend.hpp"
#include "tests/doubles/fake_nvml/fake_driver.hpp"
#include "tests/doubles/fake_nvml/waveform.hpp"

namespace gradwatt::nvml {
namespace {

using namespace std::chrono_literals;
using doubles::FakeDriver;
using telemetry::JobScope;
using telemetry::Reading;
using telemetry::SeriesSpec;
using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class OnFakeDriver : public testing::Test {
 protected:
  void start(const std::string& script, const JobScope::Snapshot& job = {}, core::Duration interval = 1s) {
    sensor_.reset();
    driver_.reset();
    driver_.emplace(script);
    auto sensors = NvmlBackend({.library_path = driver_->path()}).open({driver_->clock, job, interval, {}});
    ASSERT_TRUE(sensors) << sensors.error().message;
    ASSERT_EQ(sensors->size(), 1U);
    sensor_ = std::move(sensors->front());
  }
  Reading read() {
    Reading reading(driver_->clock.now());
    sensor_->read(reading);
    return reading;
  }
  Reading read_after(core::Duration wait) {
    driver_->clock.advance(wait);
    return read();
  }
  std::optional<SeriesSpec> spec(record::MetricId metric, std::size_t device = 0) const {
    const auto devices = sensor_->devices();
    for (const auto& series : devices.at(device).series)
      if (series.metric == metric) return series;
    return std::nullopt;
  }
  std::vector<std::string> fact_texts(std::string_view name) const {
    std::vector<std::string> texts;
    for (const auto& fact : sensor_->facts())
      if (fact.name == name) texts.push_back(record::as_text(fact).value_or("a number"));
    return texts;
  }

  std::optional<FakeDriver> driver_;
  std::unique_ptr<telemetry::Sensor> sensor_;
};

std::optional<std::int64_t> stored(const Reading& reading, record::MetricId metric, std::size_t device = 0) {
  for (const auto& cell : reading.cells())
    if (cell.device == device && cell.metric == metric && cell.stored != record::kMissing) return cell.stored;
  return std::nullopt;
}

// ---- what holds for every class

class EveryClass : public OnFakeDriver, public testing::WithParamInterface<const char*> {};

TEST_P(EveryClass, KeepsTheContractOfASensor) {
  start(std::string(GetParam()) + "*2");
  const auto devices = sensor_->devices();
  ASSERT_GE(devices.size(), 2U);
  std::set<std::string> uuids;
  for (const auto& device : devices) {
    EXPECT_EQ(device.device.kind, record::DeviceKind::gpu);
    EXPECT_TRUE(uuids.insert(device.device.uuid).second);
    std::set<record::MetricId> metrics;
    for (const auto& series : device.series) {
      EXPECT_TRUE(metrics.insert(series.metric).second) << record::info(series.metric).key() << " twice";
      EXPECT_FALSE(series.source.empty());
      EXPECT_FALSE(series.scope.empty());
    }
  }
  // Two ticks, then one after every rare cadence: all that is announced comes, and nothing else.
  std::set<std::pair<std::size_t, record::MetricId>> seen;
  for (const auto wait : {0s, 1s, 31s}) {
    const auto reading = read_after(wait);
    EXPECT_TRUE(reading.failures().empty()) << reading.failures().front().reason;
    EXPECT_EQ(reading.stamps().size(), devices.size());
    for (const auto& cell : reading.cells()) seen.emplace(cell.device, cell.metric);
  }
  for (std::size_t d = 0; d < devices.size(); ++d)
    for (const auto& series : devices[d].series)
      EXPECT_TRUE(seen.erase({d, series.metric})) << record::info(series.metric).key() << " announced but never read";
  EXPECT_TRUE(seen.empty()) << "read but not announced";
}

TEST_P(EveryClass, FactsComeFromTheTable) {
  start(GetParam());
  for (const auto& fact : sensor_->facts()) EXPECT_NE(record::find_fact(fact.name), nullptr) << fact.name;
  EXPECT_THAT(fact_texts("gpu.driver_version"), Each("550.54.15"));
}

INSTANTIATE_TEST_SUITE_P(Nvml, EveryClass,
                         testing::Values("a100", "h100", "gh200", "v100", "pascal", "consumer", "vgpu", "basic"),
                         [](const auto& row) { return std::string(row.param); });

// ---- energy and power

using NvmlSensorEnergy = OnFakeDriver;

TEST_F(NvmlSensorEnergy, IsTheDriversCounterToTheMillijoule) {
  start("h100; power=square(120,650,1.7s); energy_update=0");
  const doubles::Waveform wave{doubles::Waveform::Shape::square, 120, 650, 1.7, 0.5};
  const auto begin_ns = driver_->time_ns();
  const auto first = stored(read(), metric::kEnergy);
  const auto last = stored(read_after(12'345ms), metric::kEnergy);
  ASSERT_TRUE(first && last);
  const auto counter_uj = [&](std::int64_t t_ns) {
    return static_cast<std::int64_t>(std::floor(wave.energy_j(t_ns) * 1e3)) * 1000;
  };
  EXPECT_EQ(*last - *first, counter_uj(driver_->time_ns()) - counter_uj(begin_ns));
  EXPECT_EQ(*last % 1000, 0) << "the counter's unit is kept";
}

TEST_F(NvmlSensorEnergy, SeriesSayWhatTheyAre) {
  start("h100");
  const auto energy = spec(metric::kEnergy);
  ASSERT_TRUE(energy);
  EXPECT_EQ(energy->how, record::How::counter);
  EXPECT_EQ(energy->scope, "gpu");
  EXPECT_EQ(energy->counter_range, std::nullopt) << "64 bits never wrap";
  EXPECT_EQ(energy->max_rate, 1050.0) << "1.5 × 700 W";
  EXPECT_EQ(energy->uncertainty, 0.05);
  EXPECT_EQ(spec(metric::kPowerAvg)->duty, 1.0);
  EXPECT_EQ(spec(metric::kPowerInst)->duty, 0.25);
  EXPECT_EQ(spec(metric::kPowerMemoryAvg)->scope, "memory");
}

TEST_F(NvmlSensorEnergy, AverageAndInstantPowerAreTwoSeries) {
  start("h100; power=square(100,600,2s)");
  // The clock starts at a whole period: 1.5 s later the last second was half low, half high, the last 25 ms all high.
  const auto reading = read_after(1'500ms);
  EXPECT_EQ(stored(reading, metric::kPowerAvg), 350'000);
  EXPECT_EQ(stored(reading, metric::kPowerInst), 600'000);
  EXPECT_EQ(stored(reading, metric::kPowerMemoryAvg), 70'000);
}

TEST_F(NvmlSensorEnergy, AnA100HasNoAverage) {
  start("a100; power=square(100,400,2s)");
  EXPECT_FALSE(spec(metric::kPowerAvg));
  EXPECT_EQ(spec(metric::kPowerInst)->duty, 0.25);
  EXPECT_EQ(stored(read_after(1'500ms), metric::kPowerInst), 400'000);
}

TEST_F(NvmlSensorEnergy, WithoutTheFieldTheClassicCallGetsTheNameOfWhatItMeans) {
  start("h100; fault=return(field:185:0,3); fault=return(field:186:0,3)");
  EXPECT_EQ(spec(metric::kPowerAvg)->source, "nvmlDeviceGetPowerUsage");
  EXPECT_FALSE(spec(metric::kPowerInst));
  start("pascal");
  EXPECT_EQ(spec(metric::kPowerInst)->source, "nvmlDeviceGetPowerUsage");
  EXPECT_EQ(spec(metric::kPowerInst)->duty, 0.5);
  EXPECT_FALSE(spec(metric::kPowerAvg));
}

TEST_F(NvmlSensorEnergy, ADriverThatNamesNoArchitectureIsJudgedByComputeCapability) {
  start("a100; fault=return(nvmlDeviceGetArchitecture,13); fault=return(field:186:0,3)");
  EXPECT_EQ(spec(metric::kPowerInst)->duty, 0.25);
  EXPECT_EQ(sensor_->devices().front().device.attributes.at("architecture"), "ampere");
}

TEST_F(NvmlSensorEnergy, ASuperchipKeepsGpuAndModuleApart) {
  start("gh200; power=constant(500W)");
  EXPECT_EQ(spec(metric::kEnergy)->scope, "gpu");
  EXPECT_EQ(spec(metric::kEnergyModule)->scope, "module");
  const auto before = read();
  const auto after = read_after(10s);
  EXPECT_EQ(*stored(after, metric::kEnergy) - *stored(before, metric::kEnergy), 5'000'000'000);
  EXPECT_EQ(*stored(after, metric::kEnergyModule) - *stored(before, metric::kEnergyModule), 6'500'000'000);
  EXPECT_EQ(sensor_->devices().front().device.attributes.at("superchip"), "yes");
}

TEST_F(NvmlSensorEnergy, ThePlainCounterOfASuperchipIsSaidToBeOfTheModule) {
  start("gh200; fault=return(field:191:0,3)");
  EXPECT_EQ(spec(metric::kEnergy)->source, "nvml field 83");
  EXPECT_EQ(spec(metric::kEnergy)->scope, "module");
  start("h100; fault=return(field:191:0,3)");
  EXPECT_EQ(spec(metric::kEnergy)->scope, "gpu");
}

TEST_F(NvmlSensorEnergy, ANarrowCounterSaysWhereItWraps) {
  start("h100; fault=type(field:191:0,u32)");
  EXPECT_DOUBLE_EQ(spec(metric::kEnergy)->counter_range.value_or(0), 4294967296.0 * 1e-3) << "2^32 mJ in J";
}

// ---- the rest

using NvmlSensorReadings = OnFakeDriver;

TEST_F(NvmlSensorReadings, OneBatchedCallAGpuAndTick) {
  start("h100*8");
  const auto fields_before = driver_->calls("nvmlDeviceGetFieldValues");
  const auto processes_before = driver_->calls("nvmlDeviceGetComputeRunningProcesses");
  read();
  EXPECT_EQ(driver_->calls("nvmlDeviceGetFieldValues") - fields_before, 8);
  for (int i = 0; i < 29; ++i) read_after(1s);
  EXPECT_EQ(driver_->calls("nvmlDeviceGetFieldValues") - fields_before, 8 * 30);
  // One for each at the first tick; then once each in 30 s, spread over the ticks.
  EXPECT_EQ(driver_->calls("nvmlDeviceGetComputeRunningProcesses") - processes_before, 8 + 7);
  EXPECT_EQ(driver_->calls("nvmlDeviceGetPowerUsage"), 0) << "not needed where the fields exist";
}

TEST_F(NvmlSensorReadings, RareReadingsDoNotFallOnOneTick) {
  start("consumer*4");
  read();
  for (int second = 1; second <= 9; ++second) {
    const auto reading = read_after(1s);
    const auto fans =
        std::ranges::count_if(reading.cells(), [](const auto& c) { return c.metric == metric::kFanSpeed; });
    EXPECT_LE(fans, 1) << second;
  }
}

TEST_F(NvmlSensorReadings, LimitsAndIdentityAreAttributes) {
  start("h100");
  const auto device = sensor_->devices().front().device;
  EXPECT_EQ(device.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(device.index, 0);
  EXPECT_TRUE(device.uuid.starts_with("GPU-"));
  for (const auto& [name, value] : std::map<std::string, std::string>{{"power_limit_min_w", "200"},
                                                                      {"power_limit_max_w", "700"},
                                                                      {"power_limit_default_w", "700"},
                                                                      {"power_limit_enforced_w", "700"},
                                                                      {"architecture", "hopper"},
                                                                      {"compute_capability", "9.0"},
                                                                      {"sm_clock_max_mhz", "1980"},
                                                                      {"memory_total_bytes", "85899345920"},
                                                                      {"pcie_gen_max", "5"},
                                                                      {"pcie_width_max", "16"}})
    EXPECT_EQ(device.attributes.at(name), value) << name;
  EXPECT_EQ(device.attributes.count("serial"), 0U);
}

TEST_F(NvmlSensorReadings, EnforcedLimitIsReadLiveAndApartFromTheRequestedOne) {
  start("h100; limit_enforced=500");
  const auto reading = read();
  EXPECT_EQ(stored(reading, metric::kPowerLimitEnforced), 500'000);
  EXPECT_EQ(stored(reading, metric::kPowerLimitRequested), 700'000);
}

TEST_F(NvmlSensorReadings, ActivityNeedsTwoSamplesAHundredMillisecondsApart) {
  start("h100; sm_active=81.5; tensor_active=40.25", {}, 50ms);
  EXPECT_FALSE(stored(read(), metric::kSmActive)) << "no time has passed since the sensor was opened";
  EXPECT_FALSE(stored(read_after(50ms), metric::kSmActive));
  const auto reading = read_after(50ms);
  EXPECT_EQ(stored(reading, metric::kSmActive), 815);
  EXPECT_EQ(stored(reading, metric::kTensorActive), 403) << "tenths of a percent";
  EXPECT_TRUE(reading.failures().empty());
  EXPECT_EQ(spec(metric::kSmActive)->cadence, 200ms) << "slower than the ticks, and said so";
}

TEST_F(NvmlSensorReadings, NvlinkCountsBytesOverAllLinks) {
  start("h100; nvlink=2048e6; nvlinks_up=17");
  const auto before = read();
  EXPECT_EQ(stored(before, metric::kNvlinkLinksUp), 17);
  const auto sent = *stored(read_after(2s), metric::kNvlinkTx) - *stored(before, metric::kNvlinkTx);
  EXPECT_NEAR(static_cast<double>(sent), 4096e6, 2048) << "counted in KiB";
}

TEST_F(NvmlSensorReadings, AProcessIsCountedOnce) {
  start("h100; processes=100,100,101");
  EXPECT_EQ(stored(read(), metric::kProcesses), 2);
}

TEST_F(NvmlSensorReadings, WhatIsMissingIsAFactWithItsReason) {
  start("vgpu");
  EXPECT_THAT(fact_texts("sensor.absent"),
              testing::Contains(AllOf(HasSubstr("energy_j"), HasSubstr("not supported by this device"))));
  EXPECT_EQ(sensor_->devices().front().device.attributes.at("vgpu"), "guest");
}

TEST_F(NvmlSensorReadings, StampsLieWithinTheReading) {
  start("h100*2");
  driver_->clock.advance(1s);
  const auto now = driver_->clock.now();
  const auto reading = read();
  for (const auto& [device, when] : reading.stamps()) EXPECT_EQ(when, now) << device;
}

// ---- MIG

using NvmlSensorMig = OnFakeDriver;

TEST_F(NvmlSensorMig, ASliceIsADeviceWithAModelledShareOfItsGpu) {
  start("h100; mig=3g,2g; power=constant(300W)");
  const auto devices = sensor_->devices();
  ASSERT_EQ(devices.size(), 3U);
  EXPECT_EQ(devices[1].device.attributes.at("parent"), devices[0].device.uuid);
  EXPECT_EQ(devices[1].device.kind, record::DeviceKind::gpu);
  const auto slice = spec(metric::kEnergySlice, 1);
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->how, record::How::modelled);
  EXPECT_TRUE(slice->range_low && slice->range_high);
  EXPECT_THAT(spec(metric::kEnergy, 0)->note, HasSubstr("shared"));
  EXPECT_FALSE(spec(metric::kEnergy, 1)) << "only the whole GPU has a counter";
  const auto before = read();
  const auto after = read_after(10s);
  const auto used = [&](record::MetricId metric, std::size_t device) {
    return static_cast<double>(*stored(after, metric, device) - *stored(before, metric, device)) * 1e-6;
  };
  EXPECT_DOUBLE_EQ(used(metric::kEnergy, 0), 3000);
  EXPECT_NEAR(used(metric::kEnergySlice, 1), 3000.0 * 48 / 132, 1e-5);
  EXPECT_NEAR(used(metric::kEnergySlice, 2), 3000.0 * 32 / 132, 1e-5);
  EXPECT_LT(used(metric::kEnergySlice, 1) + used(metric::kEnergySlice, 2), 3000) << "never more than the GPU";
}

TEST_F(NvmlSensorMig, ActivityMemoryAndShareAreTheSlicesOwn) {
  start("a100; mig=3g; processes=7");
  EXPECT_FALSE(spec(metric::kSmActive, 1)) << "GPM begins with Hopper";
  EXPECT_TRUE(spec(metric::kMemoryUsed, 1));
  EXPECT_FALSE(spec(metric::kTemperature, 1)) << "that of the whole GPU";
  bool told = false;
  for (const auto& fact : sensor_->facts())
    if (fact.name == "gpu.shared_share") {
      told = true;
      EXPECT_NEAR(record::as_number(fact).value_or(0), 42.0 / 108, 1e-9);
      EXPECT_EQ(fact.subject, sensor_->devices()[1].device.uuid);
    }
  EXPECT_TRUE(told);
}

// ---- following the job

using NvmlSensorFollow = OnFakeDriver;

JobScope::Snapshot only(std::vector<std::string> visible) {
  JobScope::Snapshot job;
  job.all_gpus = false;
  job.visible_gpus = std::move(visible);
  return job;
}

TEST_F(NvmlSensorFollow, ASecondRankAddsItsGpuAtTheEnd) {
  start("h100*4", only({"2"}));
  ASSERT_EQ(sensor_->devices().size(), 1U);
  EXPECT_EQ(sensor_->devices()[0].device.index, 2);
  EXPECT_TRUE(sensor_->follow(only({"2", "0"})));
  ASSERT_EQ(sensor_->devices().size(), 2U);
  EXPECT_EQ(sensor_->devices()[0].device.index, 2);
  EXPECT_EQ(sensor_->devices()[1].device.index, 0);
  EXPECT_FALSE(sensor_->follow(only({"2", "0", "0,2"}))) << "nothing new";
  const auto reading = read_after(1s);
  EXPECT_TRUE(stored(reading, metric::kEnergy, 1));
}

TEST_F(NvmlSensorFollow, AGpuDoesNotVanishWhenTheRankThatNamedItIsGone) {
  start("h100*2", only({"0", "1"}));
  EXPECT_FALSE(sensor_->follow(only({"0"})));
  EXPECT_EQ(sensor_->devices().size(), 2U);
}

TEST_F(NvmlSensorFollow, AJobWithoutGpusDoesNotStartTheDriver) {
  start("h100", only({""}));
  EXPECT_EQ(driver_->calls("nvmlInit"), 0);
  EXPECT_TRUE(sensor_->devices().empty());
  EXPECT_TRUE(read().cells().empty());
  EXPECT_TRUE(sensor_->facts().empty());
  EXPECT_TRUE(sensor_->follow(only({"", "0"}))) << "a later rank uses one";
  EXPECT_EQ(sensor_->devices().size(), 1U);
}

TEST_F(NvmlSensorFollow, ListsThatNameNothingAreToldOnce) {
  start("h100*2", only({"0,5"}));
  EXPECT_FALSE(sensor_->follow(only({"0,5"})));
  const auto reading = read();
  ASSERT_EQ(reading.events().size(), 1U);
  EXPECT_EQ(reading.events()[0].kind, "gpu_selection");
  EXPECT_THAT(reading.events()[0].text, HasSubstr("\"5\""));
  EXPECT_TRUE(read_after(1s).events().empty());
}

TEST_F(NvmlSensorFollow, IndicesOnANodeWithSeveralModelsAreDoubtful) {
  start("h100; consumer", only({"1"}));
  const auto reading = read();
  ASSERT_EQ(reading.events().size(), 1U);
  EXPECT_EQ(reading.events()[0].kind, "gpu_order");
  start("h100; consumer", only({"GPU-a1"}));
  EXPECT_TRUE(read().events().empty()) << "a UUID is sure";
}

}  // namespace
}  // namespace gradwatt::nvml
