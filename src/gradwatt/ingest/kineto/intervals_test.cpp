#include "gradwatt/ingest/kineto/intervals.hpp"

#include <gtest/gtest.h>

namespace gradwatt::ingest::kineto {
namespace {

TEST(Intervals, UniteWhatOverlapsOrTouches) {
  EXPECT_EQ(united({{5, 8}, {0, 2}, {2, 3}, {6, 7}, {9, 9}}), (Intervals{{0, 3}, {5, 8}}));
}

TEST(Intervals, CloseGapsUpToTheGivenLength) {
  EXPECT_EQ(united({{0, 2}, {4, 5}, {8, 9}}, 2), (Intervals{{0, 5}, {8, 9}}));
}

TEST(Intervals, HaveACommonPart) {
  EXPECT_EQ(common({{0, 4}, {6, 9}}, {{3, 7}, {8, 12}}), (Intervals{{3, 4}, {6, 7}, {8, 9}}));
  EXPECT_TRUE(common({{0, 4}}, {{4, 5}}).empty());
}

TEST(Intervals, LeaveTheRestOutsideOfOthers) {
  EXPECT_EQ(without({{0, 10}}, {{2, 3}, {5, 12}}), (Intervals{{0, 2}, {3, 5}}));
  EXPECT_EQ(without({{0, 3}, {4, 6}}, {{1, 5}}), (Intervals{{0, 1}, {5, 6}}));
  EXPECT_EQ(without({{0, 3}}, {}), (Intervals{{0, 3}}));
}

TEST(Intervals, CoverPartOfAWindow) {
  const Intervals intervals{{0, 4}, {6, 9}, {20, 30}};
  EXPECT_EQ(covered_ns(intervals, {3, 8}), 3);
  EXPECT_EQ(covered_ns(intervals, {10, 20}), 0);
  EXPECT_EQ(total_ns(intervals), 17);
}

}  // namespace
}  // namespace gradwatt::ingest::kineto
