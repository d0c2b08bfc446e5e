#include "gradwatt/ingest/timestamp.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gradwatt::ingest {
namespace {

constexpr std::int64_t kS = 1'000'000'000;
constexpr std::int64_t kNoon = 1'675'166'400 * kS;  // 2023-01-31T12:00:00Z

struct Case {
  std::string text;
  std::int64_t ns;
  TimeKind kind;
};

TEST(Timestamp, ReadsEveryWayOfWritingAMoment) {
  const Case cases[] = {
      {"2023/01/31 12:00:00.123", kNoon + 123'000'000, TimeKind::local},
      {"2023/01/31 12:00:00", kNoon, TimeKind::local},
      {"2023-01-31 12:00", kNoon, TimeKind::local},
      {"2023-01-31T12:00:00,5", kNoon + 500'000'000, TimeKind::local},
      {"2023-01-31T12:00:00.123456789Z", kNoon + 123'456'789, TimeKind::utc},
      {"2023-01-31T14:30:00+02:30", kNoon, TimeKind::utc},
      {"2023-01-31 04:00:00 -0800", kNoon, TimeKind::utc},
      {"2023-01-31 13:00:00+01", kNoon, TimeKind::utc},
      {"2023-01-31 12:00:00 UTC", kNoon, TimeKind::utc},
      {"2023-01-31 12:00:00 CET", kNoon, TimeKind::local},
      {"31.01.2023 12:00:00", kNoon, TimeKind::local},
      {"1/31/2023 12:00:00 PM", kNoon, TimeKind::local},
      {"Tue Jan 31 12:00:00 2023", kNoon, TimeKind::local},
      {"Tue 31 Jan 2023 12:00:00 PM EST", kNoon, TimeKind::local},
      {"31 January 2023, 12:00:00.5", kNoon + 500'000'000, TimeKind::local},
      {"1675166400", kNoon, TimeKind::utc},
      {"1675166400.123456789", kNoon + 123'456'789, TimeKind::utc},
      {"1675166400123", kNoon + 123'000'000, TimeKind::utc},
      {"1675166400123.25", kNoon + 123'250'000, TimeKind::utc},
      {"1675166400123456", kNoon + 123'456'000, TimeKind::utc},
      {"1675166400123456789", kNoon + 123'456'789, TimeKind::utc},
      {"1.6751664e+09", kNoon, TimeKind::utc},
      {"0.25", kS / 4, TimeKind::relative},
      {"12:00:01.5", 43'201 * kS + kS / 2, TimeKind::clock},
      {"11:59:59 PM", 86'399 * kS, TimeKind::clock},
      {"12:00:00 AM", 0, TimeKind::clock},
  };
  for (const auto& one : cases) {
    const auto time = parse_time(one.text);
    ASSERT_TRUE(time) << one.text;
    EXPECT_EQ(time->ns, one.ns) << one.text;
    EXPECT_EQ(time->kind, one.kind) << one.text;
  }
}

TEST(Timestamp, RefusesWhatIsNoMomentOrHasTwoReadings) {
  for (const std::string text : {"",
                                 "timestamp",
                                 "2023/13/01 00:00:00",
                                 "2023/02/30 00:00:00",
                                 "01/02/2023 12:00:00",
                                 "25:00:00",
                                 "12:60:00",
                                 "-5",
                                 "nan",
                                 "1e300",
                                 "99999999999999999999",
                                 "2023-01-31",
                                 "[N/A]",
                                 "P0",
                                 "120.50 W",
                                 "0x1",
                                 "13:00:00 PM",
                                 "2023-01-31 12:00:00+15:00",
                                 "99999999999",
                                 "GPU-1",
                                 "Mon Tue Wed",
                                 "Jan Jan 1 1"})
    EXPECT_FALSE(parse_time(text)) << text;
}

TEST(Timestamp, AUnitInTheHeaderBeatsTheSize) {
  EXPECT_EQ(parse_time("1500", TimeUnit::ms)->ns, 3 * kS / 2);
  EXPECT_EQ(parse_time("1500", TimeUnit::ms)->kind, TimeKind::relative);
  EXPECT_EQ(parse_time("7", TimeUnit::ns)->ns, 7);
  EXPECT_EQ(parse_time("1.5", TimeUnit::us)->ns, 1500);
}

TEST(Timestamp, KnowsWholeSeconds) {
  EXPECT_TRUE(parse_time("1675166400")->whole_seconds);
  EXPECT_FALSE(parse_time("1675166400.0")->whole_seconds);
  EXPECT_TRUE(parse_time("2023/01/31 12:00:00")->whole_seconds);
  EXPECT_FALSE(parse_time("2023/01/31 12:00:00.000")->whole_seconds);
}

}  // namespace
}  // namespace gradwatt::ingest
