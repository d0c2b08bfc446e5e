#include "gradwatt/telemetry/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <thread>

#include "tests/doubles/recording_sink.hpp"
#include "tests/doubles/scripted_sensor.hpp"

namespace gradwatt::telemetry {
namespace {

using namespace std::chrono_literals;
using doubles::gpu_with;
using doubles::RecordingSink;
using doubles::ScriptedBackend;
using doubles::ScriptedSensor;
using record::DeviceKind;

constexpr auto kPower = record::metric(DeviceKind::gpu, "power_avg");
constexpr auto kEnergy = record::metric(DeviceKind::gpu, "energy");

SeriesSpec power_spec() { return {.metric = kPower, .how = record::How::integrated, .source = "test"}; }

std::vector<std::unique_ptr<Sensor>> one(std::unique_ptr<Sensor> sensor) {
  std::vector<std::unique_ptr<Sensor>> sensors;
  sensors.push_back(std::move(sensor));
  return sensors;
}

std::unique_ptr<Backend> steady_backend(std::atomic<int>& reads) {
  return std::make_unique<ScriptedBackend>(one(std::make_unique<ScriptedSensor>(
      "steady", std::vector{gpu_with("GPU-1", {power_spec()})}, [&reads](Reading& reading) {
        ++reads;
        reading.set(0, kPower, 250);
      })));
}

std::vector<Sampler::Group> groups(std::unique_ptr<Backend> a, std::unique_ptr<Backend> b = nullptr) {
  std::vector<Sampler::Group> all(b ? 2 : 1);
  all[0].push_back(std::move(a));
  if (b) all[1].push_back(std::move(b));
  return all;
}

class SamplerTest : public ::testing::Test {
 protected:
  // Static: a thread that hangs in a scripted driver may outlive its test.
  static inline core::SystemClock clock_;
  static inline JobScope job_;
  RecordingSink sink_;
  Sampler::Options options_{.interval = 2ms, .hang_limit = 30ms, .calibrate = false, .host = "testhost"};
};

TEST_F(SamplerTest, ReadsUntilStoppedAndOnceMore) {
  std::atomic<int> reads = 0;
  Sampler sampler(clock_, sink_, job_, options_);
  sampler.start(groups(steady_backend(reads)));
  ASSERT_TRUE(sampler.wait_for_first_readings(10s));
  while (reads < 5) std::this_thread::sleep_for(1ms);
  sampler.stop(10s);
  const auto run = sink_.run();
  ASSERT_EQ(run.devices.size(), 1U);
  EXPECT_EQ(run.devices[0].host, "testhost");
  EXPECT_EQ(run.series.at(0).size(), static_cast<std::size_t>(reads));
  EXPECT_EQ(run.series.at(0).find(kPower)->at(0), 250.0);
  EXPECT_TRUE(std::ranges::is_sorted(run.series[0].time_ns));
  EXPECT_EQ(sampler.stats().ticks, static_cast<std::uint64_t>(reads));
  EXPECT_FALSE(run.quality.empty());
  EXPECT_EQ(run.quality[0].sampling, record::Sampling::stratified);
}

TEST_F(SamplerTest, ACallThatHangsCostsOnlyItsOwnSensor) {
  static std::latch release(1);
  std::atomic<int> reads = 0;
  auto hanging = std::make_unique<ScriptedBackend>(one(std::make_unique<ScriptedSensor>(
      "hanging", std::vector{gpu_with("GPU-2", {power_spec()})}, [](Reading&) { release.wait(); })));
  Sampler sampler(clock_, sink_, job_, options_);
  sampler.start(groups(steady_backend(reads), std::move(hanging)));
  while (sampler.stats().problems.empty()) {
    std::this_thread::sleep_for(2ms);
    sampler.watch();
  }
  const int before = reads;
  while (reads < before + 3) std::this_thread::sleep_for(1ms);
  sampler.stop(10s);
  EXPECT_NE(sampler.stats().problems[0].find("hanging"), std::string::npos);
  const auto events = sink_.run().events;
  EXPECT_TRUE(std::ranges::any_of(events, [](const auto& e) { return e.kind == "sensor.hung"; }));
  release.count_down();
}

TEST_F(SamplerTest, LaterBackendsOfAGroupLearnWhatIsCovered) {
  std::atomic<int> reads = 0;
  std::vector<DeviceKind> covered;
  auto model = std::make_unique<ScriptedBackend>(std::vector<std::unique_ptr<Sensor>>{},
                                                 [&](const OpenContext& context) { covered = context.covered; });
  auto group = groups(steady_backend(reads));
  group[0].push_back(std::move(model));
  Sampler sampler(clock_, sink_, job_, options_);
  sampler.start(std::move(group));
  ASSERT_TRUE(sampler.wait_for_first_readings(10s));
  sampler.stop(10s);
  EXPECT_EQ(covered, std::vector{DeviceKind::gpu});
}

TEST_F(SamplerTest, AReadingThatCostsTooMuchIsTakenLessOften) {
  std::atomic<int> reads = 0;
  auto slow = std::make_unique<ScriptedBackend>(one(std::make_unique<ScriptedSensor>(
      "slow", std::vector{gpu_with("GPU-1", {power_spec()})}, [&](Reading& reading) {
        ++reads;
        std::this_thread::sleep_for(1ms);
        reading.set(0, kPower, 250);
      })));
  Sampler sampler(clock_, sink_, job_, options_);
  sampler.start(groups(std::move(slow)));
  while (reads < 12) std::this_thread::sleep_for(1ms);
  sampler.stop(10s);
  EXPECT_TRUE(std::ranges::any_of(sink_.run().events, [](const auto& e) { return e.kind == "sensor.backoff"; }));
}

TEST_F(SamplerTest, CalibrationMeasuresTheUpdatePeriodOfACounter) {
  std::atomic<bool> done = false;
  const auto begin = clock_.now();
  auto device = gpu_with("GPU-1", {{.metric = kEnergy, .source = "test"}});
  auto counting = std::make_unique<ScriptedBackend>(
      one(std::make_unique<ScriptedSensor>("counting", std::vector{device}, [&](Reading& reading) {
        const auto steps = (reading.begin() - begin) / 50ms;
        reading.set_stored(0, kEnergy, steps * 1000);
        done = reading.begin() - begin > 1s;
      })));
  options_.calibrate = true;
  options_.interval = 200ms;
  Sampler sampler(clock_, sink_, job_, options_);
  sampler.start(groups(std::move(counting)));
  while (!done) std::this_thread::sleep_for(5ms);
  sampler.stop(10s);
  const auto run = sink_.run();
  ASSERT_EQ(run.quality.size(), 1U);
  ASSERT_TRUE(run.quality[0].update_ns);
  EXPECT_GE(*run.quality[0].update_ns, 40'000'000);
  EXPECT_EQ(run.quality[0].sampling, record::Sampling::deadline);
}

TEST_F(SamplerTest, NothingReachesTheRecordAfterStop) {
  std::atomic<int> reads = 0;
  Sampler sampler(clock_, sink_, job_, options_);
  sampler.start(groups(steady_backend(reads)));
  sampler.stop(10s);
  const auto rows = sink_.run().series.size();
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(sink_.run().series.size(), rows);
}

}  // namespace
}  // namespace gradwatt::telemetry
