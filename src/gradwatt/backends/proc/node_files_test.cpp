#include "gradwatt/backends/proc/node_files.hpp"

#include <gtest/gtest.h>

namespace gradwatt::proc {
namespace {

TEST(ParseStat, ReadsTimesAndCounts) {
  const auto stat = parse_stat(
      "cpu  100 10 50 800 40 5 5 20 60 0\ncpu0 1 1 1 1\nintr 5\nctxt 328396\nprocs_running 4\nprocs_blocked 1");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->cpus.total, 1030);  // guest time is in user time already
  EXPECT_EQ(stat->cpus.busy(), 190);
  EXPECT_EQ(stat->cpus.steal, 20);
  EXPECT_EQ(stat->context_switches, 328396);
  EXPECT_EQ(stat->running, 4);
  EXPECT_EQ(stat->blocked, 1);
}

TEST(ParseStat, RefusesTextWithoutACpuLineAndGarbageInIt) {
  EXPECT_FALSE(parse_stat("ctxt 5"));
  EXPECT_FALSE(parse_stat("cpu 1 2"));
  EXPECT_FALSE(parse_stat("cpu 1 2 3 x 5"));
  EXPECT_FALSE(parse_stat("cpu 1 2 3 4")->context_switches);
}

TEST(SharesBetween, AreOfTheTimeThatPassed) {
  const auto shares = shares_between({1000, 800, 100, 0}, {1100, 850, 120, 10});
  ASSERT_TRUE(shares);
  EXPECT_DOUBLE_EQ(shares->busy_pct, 30);
  EXPECT_DOUBLE_EQ(shares->iowait_pct, 20);
  EXPECT_DOUBLE_EQ(shares->steal_pct, 10);
}

TEST(SharesBetween, AFigureThatWentBackStandsStillAndNoTimeIsNoShare) {
  EXPECT_DOUBLE_EQ(shares_between({1000, 800, 100, 0}, {1100, 890, 90, 0})->iowait_pct, 0);
  EXPECT_FALSE(shares_between({1000, 800, 100, 0}, {1000, 800, 100, 0}));
}

TEST(ParseMeminfo, ReadsBytesAndWantsAllThree) {
  const auto memory =
      parse_meminfo("MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable: 60 kB\nCached: 30 kB\nSwapCached: 9 kB");
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->total_bytes, 102400);
  EXPECT_EQ(memory->available_bytes, 61440);
  EXPECT_EQ(memory->cached_bytes, 30720);
  EXPECT_FALSE(parse_meminfo("MemTotal: 100 kB"));
  EXPECT_FALSE(parse_meminfo("MemTotal: many kB\nMemAvailable: 60 kB\nCached: 30 kB"));
}

TEST(ParsePressure, TakesTheTotalOfSome) {
  EXPECT_EQ(parse_pressure_us("some avg10=3.41 avg60=1.64 avg300=1.01 total=12221220\nfull avg10=0.00 total=7"),
            12221220);
  EXPECT_FALSE(parse_pressure_us("full avg10=0.00 total=7"));
  EXPECT_FALSE(parse_pressure_us("some total=x"));
}

}  // namespace
}  // namespace gradwatt::proc
