#include "gradwatt/ingest/kineto/event_time.hpp"

#include <gtest/gtest.h>

namespace gradwatt::ingest::kineto {
namespace {

TEST(EventTime, KeepsTheNanosecondsOfAWallTime) {
  EXPECT_EQ(parse_microseconds("1623142623460111"), 1'623'142'623'460'111'000);
  EXPECT_EQ(parse_microseconds("4458676522690.655"), 4'458'676'522'690'655);
  EXPECT_EQ(parse_microseconds("1623142623460111.789"), 1'623'142'623'460'111'789);
}

TEST(EventTime, TakesFewerAndMoreDigitsBehindThePoint) {
  EXPECT_EQ(parse_microseconds("0.5"), 500);
  EXPECT_EQ(parse_microseconds("7.12345"), 7123);
  EXPECT_EQ(parse_microseconds("-2.5"), -2500);
  EXPECT_EQ(parse_microseconds("1.5e3"), 1'500'000);
}

TEST(EventTime, RefusesWhatIsNoTimeOrBeyondAllTimes) {
  for (const auto* text : {"", "-", ".5", "abc", "12x", "1e400", "nan", "99999999999999999999", "9223372036854775807",
                           "123456789012345678901234567890.5", "1e308"})
    EXPECT_FALSE(parse_microseconds(text)) << text;
}

}  // namespace
}  // namespace gradwatt::ingest::kineto
