#include "gradwatt/telemetry/tick_schedule.hpp"

#include <gtest/gtest.h>

namespace gradwatt::telemetry {
namespace {

using namespace std::chrono_literals;
using record::Sampling;

constexpr core::Instant kOrigin{1000s};

TEST(TickSchedule, DeadlinesAreAbsoluteAndDoNotDrift) {
  TickSchedule schedule(kOrigin, 100ms, Sampling::deadline, 1);
  EXPECT_EQ(schedule.next(kOrigin), kOrigin);
  EXPECT_EQ(schedule.next(kOrigin + 37ms), kOrigin + 100ms);
  EXPECT_EQ(schedule.next(kOrigin + 199ms), kOrigin + 200ms);
  EXPECT_EQ(schedule.missed(), 0U);
}

TEST(TickSchedule, PeriodsThatWentByAreCountedNotCaughtUp) {
  TickSchedule schedule(kOrigin, 100ms, Sampling::deadline, 1);
  schedule.next(kOrigin);
  EXPECT_EQ(schedule.next(kOrigin + 1050ms), kOrigin + 1000ms);
  EXPECT_EQ(schedule.missed(), 9U);
}

TEST(TickSchedule, StratifiedReadsOnceInEveryPeriodEvenly) {
  TickSchedule schedule(kOrigin, 1s, Sampling::stratified, 7);
  core::Instant now = kOrigin;
  double sum = 0;
  for (int k = 0; k < 4000; ++k) {
    now = schedule.next(now);
    const auto phase = now - (kOrigin + k * 1s);
    ASSERT_GE(phase, 0s);
    ASSERT_LT(phase, 1s);
    sum += std::chrono::duration<double>(phase).count();
  }
  EXPECT_NEAR(sum / 4000, 0.5, 0.02);
}

TEST(TickSchedule, LengtheningDoublesThePeriodFromTheNextOneOn) {
  TickSchedule schedule(kOrigin, 100ms, Sampling::deadline, 1);
  schedule.next(kOrigin);
  schedule.lengthen(kOrigin + 30ms);
  EXPECT_EQ(schedule.next(kOrigin + 30ms), kOrigin + 100ms);
  EXPECT_EQ(schedule.next(kOrigin + 110ms), kOrigin + 300ms);
}

}  // namespace
}  // namespace gradwatt::telemetry
