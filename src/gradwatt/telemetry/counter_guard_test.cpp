#include "gradwatt/telemetry/counter_guard.hpp"

#include <gtest/gtest.h>

namespace gradwatt::telemetry {
namespace {

using namespace std::chrono_literals;
using Outcome = CounterGuard::Outcome;

/// A package counter in µJ: wraps at 262 144 J, at most 600 W.
class Guard : public ::testing::Test {
 protected:
  static constexpr std::int64_t kJoule = 1'000'000;
  static constexpr std::int64_t kRange = 262'144 * kJoule;
  Outcome at(core::Duration t, std::optional<std::int64_t> raw) { return guard_.advance(core::Instant{} + t, raw); }
  CounterGuard guard_{{static_cast<double>(kRange), 600.0 * kJoule, true}};
};

TEST_F(Guard, TheTotalIsLastMinusFirstToTheUnit) {
  EXPECT_EQ(at(0s, 1'234'567), Outcome::first);
  EXPECT_EQ(at(1s, 1'234'568), Outcome::advanced);
  EXPECT_EQ(at(2s, 101'234'567), Outcome::advanced);
  EXPECT_EQ(guard_.total(), 100'000'000);
}

TEST_F(Guard, AWrapIsCounted) {
  at(0s, kRange - 30 * kJoule);
  EXPECT_EQ(at(1s, 20 * kJoule), Outcome::wrapped);
  EXPECT_EQ(guard_.total(), 50 * kJoule);
}

TEST_F(Guard, ARestartFromZeroIsAResetAndAddsNoPhantomRange) {
  at(0s, 150'000 * kJoule);
  EXPECT_EQ(at(1s, 5 * kJoule), Outcome::held);
  EXPECT_EQ(at(2s, 105 * kJoule), Outcome::reset);
  EXPECT_EQ(at(3s, 205 * kJoule), Outcome::advanced);
  EXPECT_EQ(guard_.total(), 200 * kJoule);
}

TEST_F(Guard, AFailedReadIsAGapThatLosesNothing) {
  at(0s, 100 * kJoule);
  EXPECT_EQ(at(1s, std::nullopt), Outcome::failed);
  EXPECT_EQ(at(2s, 300 * kJoule), Outcome::advanced);
  EXPECT_EQ(guard_.total(), 200 * kJoule);
}

TEST_F(Guard, AReadRecordedAsZeroByAFaultyDriverIsAGlitch) {
  at(0s, 150'000 * kJoule);
  EXPECT_EQ(at(1s, 0), Outcome::held);
  EXPECT_EQ(at(2s, 150'200 * kJoule), Outcome::glitch);
  EXPECT_EQ(guard_.total(), 200 * kJoule);
}

TEST_F(Guard, AJumpThatNoDeviceCanDrawIsRejected) {
  at(0s, 100 * kJoule);
  EXPECT_EQ(at(1s, 100'000 * kJoule), Outcome::held);
  EXPECT_EQ(at(2s, 300 * kJoule), Outcome::glitch);
  EXPECT_EQ(guard_.total(), 200 * kJoule);
}

TEST_F(Guard, AStepBackCountsNothingAndIsNotCountedTwice) {
  at(0s, 1000 * kJoule);
  at(1s, 1100 * kJoule);
  EXPECT_EQ(at(2s, 1050 * kJoule), Outcome::backward);
  EXPECT_EQ(at(3s, 1200 * kJoule), Outcome::advanced);
  EXPECT_EQ(guard_.total(), 200 * kJoule);
}

TEST_F(Guard, ACounterThatStandsStillIsStuckNotZeroPower) {
  at(0s, 100 * kJoule);
  at(1s, 200 * kJoule);
  EXPECT_EQ(at(2s, 200 * kJoule), Outcome::advanced);
  EXPECT_EQ(at(7s, 200 * kJoule), Outcome::stuck);
  EXPECT_EQ(at(8s, 900 * kJoule), Outcome::advanced);
  EXPECT_EQ(guard_.total(), 800 * kJoule);
}

TEST_F(Guard, ANegativeReadingIsAFailedOne) {
  at(0s, 100 * kJoule);
  EXPECT_EQ(at(1s, -5), Outcome::failed);
}

TEST_F(Guard, TwoGlitchesInARowDoNotMoveTheTotal) {
  at(0s, 100 * kJoule);
  EXPECT_EQ(at(1s, 9'000'000 * kJoule), Outcome::held);
  EXPECT_EQ(at(2s, 3), Outcome::held);
  EXPECT_EQ(at(3s, 400 * kJoule), Outcome::glitch);
  EXPECT_EQ(guard_.total(), 300 * kJoule);
}

TEST(CounterGuard, WithoutABoundARestartIsStillAReset) {
  CounterGuard bytes{{std::nullopt, std::nullopt, false}};
  const auto at = [&](core::Duration t, std::int64_t raw) { return bytes.advance(core::Instant{} + t, raw); };
  at(0s, 5000);
  EXPECT_EQ(at(1s, 7000), Outcome::advanced);
  EXPECT_EQ(at(2s, 10), Outcome::held);
  EXPECT_EQ(at(3s, 30), Outcome::reset);
  EXPECT_EQ(at(60s, 30), Outcome::advanced);
  EXPECT_EQ(bytes.total(), 2020);
}

}  // namespace
}  // namespace gradwatt::telemetry
