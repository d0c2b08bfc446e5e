#include "gradwatt/catalog/cpu_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace gradwatt::catalog {
namespace {

TEST(CpuTable, FindsACpuByTheNameThatTheKernelPrints) {
  const auto* intel = find_cpu("Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz");
  ASSERT_NE(intel, nullptr);
  EXPECT_EQ(intel->tdp_w, 150);
  const auto* amd = find_cpu("AMD EPYC 7763 64-Core Processor");
  ASSERT_NE(amd, nullptr);
  EXPECT_EQ(amd->cores, 64);
  EXPECT_NE(find_cpu("Intel(R) Xeon(R) Platinum 8480+"), nullptr);
}

TEST(CpuTable, ANameWithoutAModelNumberMatchesNothing) {
  EXPECT_EQ(find_cpu("AMD EPYC"), nullptr);
  EXPECT_EQ(find_cpu("AMD EPYC Processor"), nullptr);
  EXPECT_EQ(find_cpu("Intel(R) Xeon(R) Processor"), nullptr);
  EXPECT_EQ(find_cpu(""), nullptr);
}

TEST(CpuTable, AModelNumberWithAnotherSuffixIsAnotherCpu) {
  EXPECT_EQ(find_cpu("AMD EPYC 7543X 32-Core Processor"), nullptr);
  EXPECT_EQ(find_cpu("Intel(R) Xeon(R) Gold 62480 CPU"), nullptr);
  ASSERT_NE(find_cpu("AMD EPYC 7702P 64-Core Processor"), nullptr);
  EXPECT_EQ(find_cpu("AMD EPYC 7702P 64-Core Processor")->model, "EPYC 7702P");
}

TEST(CpuTable, EveryRowIsPlausibleUniqueAndSaysItsSource) {
  std::set<std::string_view> models;
  for (const auto& row : cpu_table()) {
    EXPECT_TRUE(models.insert(row.model).second) << row.model;
    EXPECT_FALSE(row.source.empty()) << row.model;
    EXPECT_GE(row.tdp_w / row.cores, 2.0) << row.model;
    EXPECT_LE(row.tdp_w / row.cores, 20.0) << row.model;
    EXPECT_GE(row.peak_w.value_or(row.tdp_w), row.tdp_w) << row.model;
    EXPECT_TRUE(row.memory_channels >= 2 && row.memory_channels <= 12) << row.model;
    EXPECT_TRUE(std::ranges::any_of(row.model, [](char c) { return c >= '0' && c <= '9'; })) << row.model;
  }
}

TEST(PackagePower, MeetsThePublishedPointsOfTheCurveWithinTheStatedFit) {
  const struct { double utilization, share; } points[] = {{0, 0.12}, {0.1, 0.32}, {0.5, 0.75}, {1, 1.02}};
  for (const auto& p : points) EXPECT_NEAR(package_power_w(100, p.utilization) / 100, p.share, 0.08 * p.share);
}

TEST(PackagePower, StaysBetweenIdleAndFullForAnyInput) {
  EXPECT_DOUBLE_EQ(package_power_w(200, -1), 24);
  EXPECT_DOUBLE_EQ(package_power_w(200, 7), 200);
}

}  // namespace
}  // namespace gradwatt::catalog
