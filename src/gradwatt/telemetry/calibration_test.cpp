#include "gradwatt/telemetry/calibration.hpp"

#include <gtest/gtest.h>

namespace gradwatt::telemetry {
namespace {

using namespace std::chrono_literals;
using record::DeviceKind;

constexpr auto kEnergy = record::metric(DeviceKind::gpu, "energy");
constexpr auto kClock = record::metric(DeviceKind::gpu, "sm_clock");

TEST(UpdateWatch, FindsThePeriodOfChanges) {
  UpdateWatch watch;
  for (int i = 0; i < 60; ++i) {
    Reading reading(core::Instant{} + i * 15ms);
    reading.set_stored(0, kEnergy, (i * 15) / 100);
    reading.set_stored(0, kClock, i);
    watch.see(reading);
  }
  const auto found = watch.found();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].metric, kEnergy);
  EXPECT_NEAR(std::chrono::duration<double>(found[0].period).count(), 0.1, 0.005);
}

TEST(UpdateWatch, AValueThatNeverChangesTellsNothing) {
  UpdateWatch watch;
  for (int i = 0; i < 60; ++i) {
    Reading reading(core::Instant{} + i * 15ms);
    reading.set_stored(0, kEnergy, 5);
    watch.see(reading);
  }
  EXPECT_TRUE(watch.found().empty());
}

TEST(LatencyBook, TheUndisturbedCostIsTheLeastOfTheLastFive) {
  LatencyBook book;
  EXPECT_EQ(book.undisturbed(), std::nullopt);
  for (const auto ms : {1ms, 9ms, 9ms, 9ms, 9ms, 9ms}) book.add(ms);
  EXPECT_EQ(book.undisturbed(), 9ms);
  book.add(2ms);
  EXPECT_EQ(book.undisturbed(), 2ms);
  EXPECT_EQ(book.median(), 9ms);
  EXPECT_EQ(book.longest(), 9ms);
}

}  // namespace
}  // namespace gradwatt::telemetry
