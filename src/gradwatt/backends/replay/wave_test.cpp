#include "gradwatt/backends/replay/wave.hpp"

#include <gtest/gtest.h>

namespace gradwatt::replay {
namespace {

using namespace std::chrono_literals;
using units::watts;

TEST(Wave, HasTheLevelsOfItsShape) {
  EXPECT_EQ(constant(watts(70)).at(5s), watts(70));
  const auto on_off = square(watts(100), watts(300), 4s, 0.25);
  EXPECT_EQ(on_off.at(0s), watts(300));
  EXPECT_EQ(on_off.at(999ms), watts(300));
  EXPECT_EQ(on_off.at(1s), watts(100));
  EXPECT_EQ(on_off.at(4s), watts(300));
  EXPECT_DOUBLE_EQ(saw(watts(100), watts(300), 4s).at(3s).si(), 250);
}

TEST(Wave, IntegratesExactlyOverPeriodsAndTheirParts) {
  EXPECT_DOUBLE_EQ(constant(watts(70)).until(10s).si(), 700);
  const auto on_off = square(watts(100), watts(300), 4s, 0.25);
  EXPECT_DOUBLE_EQ(on_off.until(4s).si(), 600);
  EXPECT_DOUBLE_EQ(on_off.until(500ms).si(), 150);
  EXPECT_DOUBLE_EQ(on_off.until(10s).si(), 2 * 600 + 300 + 100);
  EXPECT_DOUBLE_EQ(saw(watts(0), watts(200), 2s).until(3s).si(), 200 + 50);
}

TEST(Wave, PhaseShiftsTheBegin) {
  auto on_off = square(watts(100), watts(300), 4s, 0.25);
  on_off.phase = 1s;
  EXPECT_EQ(on_off.at(0s), watts(100));
  EXPECT_DOUBLE_EQ(on_off.until(3s).si(), 300);
  EXPECT_DOUBLE_EQ(on_off.until(4s).si(), 600);
}

TEST(Wave, TheIntegralIsTheSumOfManyLevels) {
  for (auto wave : {square(watts(50), watts(700), 313ms, 0.4), saw(watts(50), watts(700), 7301ms)}) {
    wave.phase = 123ms;
    double sum = 0;
    constexpr auto kStep = 100us;
    for (auto t = core::Duration(0); t < 20s; t += kStep) sum += wave.at(t + kStep / 2).si() * 1e-4;
    EXPECT_NEAR(wave.until(20s).si(), sum, sum * 1e-4);
  }
}

}  // namespace
}  // namespace gradwatt::replay
