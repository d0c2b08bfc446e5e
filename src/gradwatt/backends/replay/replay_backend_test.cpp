#include "gradwatt/backends/replay/replay_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "gradwatt/backends/replay/script.hpp"
#include "gradwatt/record/store.hpp"
#include "tests/doubles/hand_clock.hpp"

namespace gradwatt::replay {
namespace {

using namespace std::chrono_literals;
using record::DeviceKind;
using record::metric;
using ::testing::HasSubstr;
constexpr auto kPower = metric(DeviceKind::gpu, "power_avg");
constexpr auto kEnergy = metric(DeviceKind::gpu, "energy");
constexpr auto kFan = metric(DeviceKind::gpu, "fan_speed");

class Replay : public ::testing::Test {
 protected:
  void open(record::Run run) {
    ReplayBackend backend(std::move(run), "test.db");
    auto sensors = backend.open({clock_, job_, 1s, {}});
    ASSERT_TRUE(sensors);
    ASSERT_EQ(sensors->size(), 1U);
    sensor_ = std::move(sensors->front());
  }
  telemetry::Reading read_at(core::Duration offset) {
    telemetry::Reading reading(core::Instant(1000s) + offset);
    sensor_->read(reading);
    return reading;
  }
  static std::optional<std::int64_t> cell(const telemetry::Reading& reading, record::MetricId id,
                                          std::size_t device = 0) {
    for (const auto& c : reading.cells())
      if (c.device == device && c.metric == id) return c.stored;
    return std::nullopt;
  }
  /// Rows at whole seconds from `begin`; −1 is a missing reading.
  static record::Run run_with(record::MetricId id, const std::vector<std::int64_t>& values,
                              std::int64_t begin_s = 500) {
    record::Run run;
    run.devices.push_back({DeviceKind::gpu, "GPU-1", "Test GPU", 0, "", {}});
    record::DeviceSeries series{};
    for (std::size_t i = 0; i < values.size(); ++i)
      series.time_ns.push_back((begin_s + static_cast<std::int64_t>(i)) * 1'000'000'000);
    auto& column = series.column(id);
    for (std::size_t i = 0; i < values.size(); ++i) column.values[i] = values[i] < 0 ? record::kMissing : values[i];
    run.series.push_back(series);
    record::SeriesQuality quality{.metric = id, .how = record::How::integrated, .source = "nvml field 185"};
    quality.cadence_ns = 1'000'000'000;
    run.quality.push_back(quality);
    return run;
  }

  doubles::HandClock clock_;
  telemetry::JobScope::Snapshot job_;
  std::unique_ptr<telemetry::Sensor> sensor_;
};

TEST_F(Replay, ServesTheValueAtOrLastBeforeTheSameOffset) {
  open(run_with(kPower, {100'000, 200'000, 300'000}));
  EXPECT_EQ(cell(read_at(0s), kPower), 100'000);
  EXPECT_EQ(cell(read_at(999ms), kPower), 100'000);
  EXPECT_EQ(cell(read_at(1s), kPower), 200'000);
  EXPECT_EQ(cell(read_at(1500ms), kPower), 200'000);
}

TEST_F(Replay, SaysThatItIsReplayedAndOfWhat) {
  open(run_with(kPower, {100'000}));
  const auto devices = sensor_->devices();
  ASSERT_EQ(devices.size(), 1U);
  const auto& spec = devices[0].series.at(0);
  EXPECT_EQ(spec.where, record::Where::replayed);
  EXPECT_EQ(spec.source, "replay of test.db: nvml field 185");
  EXPECT_EQ(spec.how, record::How::integrated);
  EXPECT_EQ(devices[0].device.uuid, "GPU-1");
}

TEST_F(Replay, AfterTheEndItReadsOnceMoreAndIsThenLost) {
  open(run_with(kPower, {100'000, 200'000}));
  EXPECT_TRUE(read_at(500ms).failures().empty());
  const auto last = read_at(1700ms);
  EXPECT_EQ(cell(last, kPower), 200'000);
  EXPECT_TRUE(last.failures().empty());
  const auto gone = read_at(2700ms);
  ASSERT_EQ(gone.failures().size(), 1U);
  EXPECT_TRUE(gone.failures()[0].lost);
  EXPECT_FALSE(gone.failures()[0].metric);
  EXPECT_TRUE(gone.cells().empty());
  EXPECT_TRUE(read_at(3700ms).failures().empty());
}

TEST_F(Replay, AMissingReadingFailsAgainAndASlowOneStands) {
  open(run_with(kPower, {100'000, -1, -1, 300'000}));
  EXPECT_EQ(cell(read_at(0s), kPower), 100'000);
  EXPECT_EQ(cell(read_at(1s), kPower), 100'000);  // less than two periods old
  const auto failed = read_at(2s);
  EXPECT_EQ(cell(failed, kPower), record::kMissing);
  EXPECT_EQ(failed.failures().size(), 1U);
  EXPECT_FALSE(failed.failures().at(0).lost);

  auto slow = run_with(kFan, {500, -1, -1, -1, -1, 600, -1});
  slow.quality[0].cadence_ns = 5'000'000'000;
  open(std::move(slow));
  EXPECT_EQ(sensor_->devices()[0].series[0].cadence, core::Duration(5s));
  EXPECT_EQ(cell(read_at(4s), kFan), 500);
  EXPECT_EQ(cell(read_at(5s), kFan), 600);
}

TEST_F(Replay, CountersContinueFromTheirRawValues) {
  Script script(10s, 100ms);
  const auto gpu = script.add(
      {.uuid = "GPU-1", .wave = square(units::watts(100), units::watts(300), 1s), .counter_begin_uj = 7'000'000});
  open(script.build());
  const auto first = cell(read_at(0s), kEnergy);
  EXPECT_EQ(first, 7'000'000);
  std::int64_t last = *first;
  for (auto t = core::Duration(0); t <= 12s; t += 730ms) {
    const auto value = cell(read_at(t), kEnergy);
    if (!value) continue;
    EXPECT_GE(*value, last);
    last = *value;
  }
  EXPECT_EQ(last - *first, script.energy_uj(gpu));
}

TEST_F(Replay, DevicesBeginAndEndByThemselves) {
  auto run = run_with(kPower, {100'000, 100'000, 100'000, 100'000});
  run.devices.push_back({DeviceKind::gpu, "GPU-2", "Test GPU", 1, "", {}});
  auto late = run.series[0];
  late.device = record::DeviceIndex{1};
  late.time_ns = {501'500'000'000, 502'000'000'000};
  late.columns[0].values = {200'000, 201'000};
  run.series.push_back(late);
  open(std::move(run));
  EXPECT_EQ(cell(read_at(1s), kPower, 1), std::nullopt);
  EXPECT_EQ(cell(read_at(1600ms), kPower, 1), 200'000);
  EXPECT_EQ(cell(read_at(2s), kPower, 1), 201'000);
  const auto reading = read_at(2500ms);
  ASSERT_EQ(reading.failures().size(), 1U);
  EXPECT_EQ(reading.failures()[0].device, 1U);
  EXPECT_EQ(cell(reading, kPower, 0), 100'000);
}

TEST_F(Replay, EventsComeWhenTheyCame) {
  auto run = run_with(kPower, {1, 2, 3});
  run.events = {{501'200'000'000, 0U, "gpu.xid", "Xid 79"}, {500'000'000'000, std::nullopt, "import.message", "hello"}};
  open(std::move(run));
  EXPECT_EQ(read_at(0s).events().at(0).text, "hello");
  EXPECT_TRUE(read_at(1s).events().empty());
  const auto reading = read_at(2s);
  ASSERT_EQ(reading.events().size(), 1U);
  EXPECT_EQ(reading.events()[0].kind, "gpu.xid");
  EXPECT_EQ(reading.events()[0].device, 0U);
}

TEST_F(Replay, ARunWithoutSamplesIsNoSource) {
  ReplayBackend backend({}, "empty.db");
  EXPECT_FALSE(backend.probe().at(0).usable);
  EXPECT_THAT(backend.probe().at(0).detail, HasSubstr("no samples"));
  EXPECT_TRUE(backend.open({clock_, job_, 1s, {}})->empty());
}

TEST_F(Replay, LoadsARecordFromDisk) {
  auto pattern = (std::filesystem::temp_directory_path() / "gradwatt-replay-XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::filesystem::path folder(pattern);
  Script script(2s, 100ms);
  const auto gpu = script.add({.uuid = "GPU-1", .wave = constant(units::watts(250)), .counter_begin_uj = 42});
  const auto saved = record::save(script.build(), folder / "host.db");
  ASSERT_TRUE(saved) << saved.error().message;
  for (const auto& path : {folder, folder / "host.db"}) {
    auto backend = ReplayBackend::load(path);
    ASSERT_TRUE(backend) << backend.error().message;
    auto sensors = (*backend)->open({clock_, job_, 1s, {}});
    ASSERT_TRUE(sensors);
    ASSERT_EQ(sensors->size(), 1U);
    sensor_ = std::move(sensors->front());
    const auto first = cell(read_at(0s), kEnergy);
    const auto last = cell(read_at(2s), kEnergy);
    ASSERT_TRUE(first && last);
    EXPECT_EQ(*first, 42);
    EXPECT_EQ(*last - *first, script.energy_uj(gpu));
  }
  EXPECT_FALSE(ReplayBackend::load(folder / "none.db"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gradwatt::replay
