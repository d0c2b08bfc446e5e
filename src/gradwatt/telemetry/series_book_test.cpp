#include "gradwatt/telemetry/series_book.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/doubles/scripted_sensor.hpp"

namespace gradwatt::telemetry {
namespace {

using namespace std::chrono_literals;
using doubles::gpu_with;
using record::DeviceKind;

constexpr auto kEnergy = record::metric(DeviceKind::gpu, "energy");
constexpr auto kPower = record::metric(DeviceKind::gpu, "power_avg");

SeriesSpec energy_spec() { return {.metric = kEnergy, .source = "test", .max_rate = 1000.0}; }
SeriesSpec power_spec() { return {.metric = kPower, .how = record::How::integrated, .source = "test"}; }

class Book : public ::testing::Test {
 protected:
  void SetUp() override { book_.add_device(record::DeviceIndex{0}, gpu_with("GPU-1", {energy_spec(), power_spec()})); }
  SeriesBook::Outcome tick(core::Duration t, std::optional<std::int64_t> energy, std::optional<double> power) {
    Reading reading(core::Instant{} + t);
    energy ? reading.set_stored(0, kEnergy, *energy) : reading.fail(0, kEnergy, "timeout");
    power ? reading.set(0, kPower, *power) : reading.fail(0, kPower, "timeout");
    return book_.enter(reading);
  }
  record::SeriesQuality quality(record::MetricId metric) {
    const TickSchedule schedule(core::Instant{}, 1s, record::Sampling::deadline, 0);
    for (const auto& q : book_.quality(schedule))
      if (q.metric == metric) return q;
    return {};
  }
  SeriesBook book_;
};

TEST_F(Book, ACounterIsStoredAsTotalSinceTheFirstReadingBesideItsRawValue) {
  tick(0s, 5'000'000, 100);
  const auto outcome = tick(1s, 105'000'000, 100);
  ASSERT_EQ(outcome.rows.size(), 1U);
  EXPECT_EQ(outcome.rows[0].values[record::slot(kEnergy)], 100'000'000);
  EXPECT_EQ(outcome.rows[0].raw[record::slot(kEnergy)], 105'000'000);
  EXPECT_EQ(outcome.rows[0].values[record::slot(kPower)], 100'000);
}

TEST_F(Book, AFailedReadingIsMissingCountedAndSaidOnce) {
  tick(0s, 0, 100);
  auto outcome = tick(1s, std::nullopt, std::nullopt);
  EXPECT_EQ(outcome.rows[0].values[record::slot(kEnergy)], record::kMissing);
  EXPECT_EQ(outcome.rows[0].values[record::slot(kPower)], record::kMissing);
  EXPECT_EQ(outcome.events.size(), 2U);
  EXPECT_TRUE(tick(2s, std::nullopt, std::nullopt).events.empty());
  EXPECT_EQ(quality(kPower).failed, 2U);
  EXPECT_EQ(quality(kPower).readings, 1U);
  EXPECT_NEAR(*quality(kPower).coverage, 1.0 / 3, 1e-12);
}

TEST_F(Book, AnImpossibleStepIsMissingInTheRowAndCountedAsGlitch) {
  tick(0s, 0, 100);
  EXPECT_EQ(tick(1s, 9'000'000'000'000, 100).rows[0].values[record::slot(kEnergy)], record::kMissing);
  const auto outcome = tick(2s, 200'000'000, 100);
  EXPECT_EQ(outcome.rows[0].values[record::slot(kEnergy)], 200'000'000);
  ASSERT_EQ(outcome.events.size(), 1U);
  EXPECT_EQ(outcome.events[0].kind, "counter.glitch");
  EXPECT_EQ(quality(kEnergy).glitches, 1U);
}

TEST_F(Book, PowerAtRandomInstantsHasAStandardError) {
  const TickSchedule random(core::Instant{}, 1s, record::Sampling::stratified, 0);
  for (int i = 0; i < 101; ++i) tick(i * 1s, i * 1000, i % 2 == 0 ? 100 : 300);
  const auto all = book_.quality(random);
  const auto power = std::ranges::find(all, kPower, &record::SeriesQuality::metric);
  // 100 steps of 200 W: a deviation of 200/√2 W a reading, over √100 readings.
  EXPECT_NEAR(power->standard_error.value(), 14.14, 0.01);
  EXPECT_FALSE(quality(kPower).standard_error);  // fixed deadlines tell no such thing
}

TEST_F(Book, ALostDeviceIsOneEvent) {
  Reading reading(core::Instant{} + 1s);
  reading.lose(0, std::nullopt, "fell off the bus");
  EXPECT_EQ(book_.enter(reading).events.size(), 1U);
  EXPECT_TRUE(book_.enter(reading).events.empty());
}

TEST_F(Book, ALossSeenByACalibrationReadingIsNotForgotten) {
  Reading reading(core::Instant{} + 1s);
  reading.set(0, kPower, 100);
  reading.fail(0, kEnergy, "timeout");
  reading.lose(0, kPower, "not supported any more");
  const auto outcome = book_.enter_losses(reading);
  EXPECT_TRUE(outcome.rows.empty());
  ASSERT_EQ(outcome.events.size(), 1U);
  EXPECT_EQ(outcome.events[0].kind, "sensor.series-lost");
  EXPECT_EQ(quality(kEnergy).failed, 0U);
}

TEST_F(Book, ValuesThatWereNotAnnouncedAreNotStored) {
  Reading reading(core::Instant{} + 1s);
  reading.set(0, record::metric(DeviceKind::gpu, "temperature"), 50);
  const auto outcome = book_.enter(reading);
  EXPECT_EQ(outcome.rows.at(0).values[record::slot(record::metric(DeviceKind::gpu, "temperature"))], record::kMissing);
}

TEST_F(Book, PowerNeedsIntegrationOnlyWhereNoEnergyCounterStandsBeside) {
  EXPECT_FALSE(book_.must_integrate());
  book_.add_device(record::DeviceIndex{1}, gpu_with("GPU-2", {power_spec()}));
  EXPECT_TRUE(book_.must_integrate());
}

}  // namespace
}  // namespace gradwatt::telemetry
