#include "gradwatt/core/clock.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace gradwatt::core {
namespace {

using namespace std::chrono_literals;

TEST(SystemClock, SleepsUntilAnAbsoluteDeadline) {
  SystemClock clock;
  const Instant deadline = clock.now() + 20ms;
  EXPECT_TRUE(clock.sleep_until(deadline, {}));
  EXPECT_GE(clock.now(), deadline);
}

TEST(SystemClock, AStopRequestEndsTheSleep) {
  SystemClock clock;
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(clock.sleep_until(clock.now() + 1h, stop.get_token()));
}

TEST(ClockAnchor, TurnsAnInstantIntoWallTime) {
  SystemClock clock;
  const ClockAnchor anchor = anchor_now(clock);
  EXPECT_EQ(anchor.to_wall(anchor.monotonic + 5s) - anchor.wall, 5s);
}

}  // namespace
}  // namespace gradwatt::core
