#include "gradwatt/diagnosis/baseline.hpp"

#include <gmock/gmock.h>

namespace gradwatt::diagnosis {
namespace {

Baseline good() {
  Baseline out{.name = "good"};
  out.ranks = 2;
  out.samples_per_s = 1000;
  out.steps_per_s = 10;
  out.power_avg_w = 600;
  out.energy_per_sample_j = 0.6;
  return out;
}

TEST(Baseline, ARunAsGoodPasses) {
  const auto result = check(good(), good());
  EXPECT_TRUE(result.passed());
  EXPECT_EQ(result.figures.size(), 4);
}

TEST(Baseline, AFifthSlowerFailsAndATenthSlowerPasses) {
  auto now = good();
  now.samples_per_s = 790;
  EXPECT_FALSE(check(good(), now).passed());
  now.samples_per_s = 900;
  EXPECT_TRUE(check(good(), now).passed());
}

TEST(Baseline, FasterAndMoreFrugalIsNeverWorse) {
  auto now = good();
  now.samples_per_s = 2000;
  now.energy_per_sample_j = 0.1;
  EXPECT_TRUE(check(good(), now).passed());
}

TEST(Baseline, PowerThatFellByAFifthIsAChangeToLookInto) {
  auto now = good();
  now.power_avg_w = 400;
  EXPECT_FALSE(check(good(), now).passed());
}

TEST(Baseline, AtAnotherSizeSpeedIsComparedARank) {
  auto now = good();
  now.ranks = 8;
  now.samples_per_s = 3600;
  now.power_avg_w = 2400;
  const auto result = check(good(), now);
  ASSERT_TRUE(result.efficiency);
  EXPECT_NEAR(*result.efficiency, 0.9, 1e-9);
  EXPECT_TRUE(result.passed());
  EXPECT_THAT(result.differences, testing::ElementsAre(testing::HasSubstr("8 ranks instead of 2")));
}

TEST(Baseline, WhatIsNotKnownIsNotCompared) {
  const auto result = check(good(), Baseline{.name = "empty"});
  EXPECT_FALSE(result.comparable());
  EXPECT_TRUE(result.passed());
}

TEST(Baseline, PublishedFiguresNameTheirSource) {
  for (const auto& row : published_baselines()) EXPECT_THAT(row.origin, testing::HasSubstr("published")) << row.name;
}

}  // namespace
}  // namespace gradwatt::diagnosis
