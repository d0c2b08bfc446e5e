#include "gradwatt/report/figures.hpp"

#include <gtest/gtest.h>

namespace gradwatt::report {
namespace {

using record::How;
using record::Where;

TEST(Figures, PickTheUnitBySize) {
  EXPECT_EQ(energy_text(912), "912 J");
  EXPECT_EQ(energy_text(3599), "3.60 kJ");
  EXPECT_EQ(energy_text(3600), "1.00 Wh");
  EXPECT_EQ(energy_text(4.4e6), "1.22 kWh");
  EXPECT_EQ(small_energy_text(0.42), "0.420 J");
  EXPECT_EQ(small_energy_text(0.0042), "4.20 mJ");
  EXPECT_EQ(power_text(3210), "3.21 kW");
}

TEST(Figures, NeverCallAPartTheWhole) {
  EXPECT_EQ(coverage_text(0.99999), "99.9 %");
  EXPECT_EQ(coverage_text(1), "100.0 %");
  EXPECT_EQ(coverage_text(0.874), "87.4 %");
  EXPECT_EQ(share_text(0.0004), "<0.1 %");
  EXPECT_EQ(share_text(0.0041), "0.4 %");
  EXPECT_EQ(share_text(0.0463), "4.6 %");
  EXPECT_EQ(share_text(0.832), "83 %");
}

TEST(Figures, SayRangesSymmetricalOnlyWhereTheyAre) {
  EXPECT_EQ(range_text(100, 95, 105), "±5.0 %");
  EXPECT_EQ(range_text(100, 60, 140), "±40 %");
  EXPECT_EQ(range_text(100, 70, 140), "−30/+40 %");
  EXPECT_EQ(range_text(100, std::nullopt, 140), std::nullopt);
  EXPECT_EQ(range_text(std::nullopt, 1, 2), std::nullopt);
  EXPECT_EQ(range_text(0, 0, 0), std::nullopt);
  EXPECT_EQ(range_text(100, 100, 100), std::nullopt);
}

TEST(Figures, SayWhereAFigureComesFromOnlyWhereItDiffersFromTheRun) {
  EXPECT_EQ(origin_text(How::counter, Where::live, Where::live), "counter");
  EXPECT_EQ(origin_text(How::integrated, Where::imported, Where::live), "imported, integrated from power");
}

TEST(Figures, SeparateThousands) {
  EXPECT_EQ(count_text(4711), "4711");
  EXPECT_EQ(count_text(11220), "11 220");
  EXPECT_EQ(count_text(-1234567), "-1 234 567");
}

TEST(Figures, NameTheSignalThatEndedAJob) {
  EXPECT_EQ(exit_status_text(0), "0");
  EXPECT_EQ(exit_status_text(137), "137 (signal 9)");
  EXPECT_EQ(exit_status_text(128), "128");
  EXPECT_EQ(exit_status_text(std::nullopt), "unknown");
}

}  // namespace
}  // namespace gradwatt::report
