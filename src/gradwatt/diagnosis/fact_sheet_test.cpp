#include "gradwatt/diagnosis/fact_sheet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doubles/made_fact.hpp"

namespace gradwatt::diagnosis {
namespace {

using doubles::fact;

TEST(FactSheet, MissingIsNothingAndNeverZero) {
  const FactSheet sheet;
  EXPECT_TRUE(sheet.empty());
  EXPECT_FALSE(sheet.has("gpu.count"));
  EXPECT_EQ(sheet.number("gpu.count"), std::nullopt);
  EXPECT_EQ(sheet.lowest("gpu.count"), std::nullopt);
  EXPECT_EQ(sheet.sum("gpu.count"), std::nullopt);
  EXPECT_EQ(sheet.text("gpu.name"), std::nullopt);
  EXPECT_EQ(sheet.text_holds("gpu.name", "h100"), std::nullopt);
  EXPECT_EQ(sheet.is("host.acs"), std::nullopt);
  EXPECT_EQ(sheet.variable("NCCL_ALGO"), std::nullopt);
}

TEST(FactSheet, TheFigureOfTheJobStandsBeforeThoseOfItsParts) {
  const FactSheet sheet({fact("gpu.power_avg_w", 100.0, "GPU 0"), fact("gpu.power_avg_w", 300.0, "GPU 1"),
                         fact("gpu.power_avg_w", 250.0)});
  EXPECT_EQ(sheet.number("gpu.power_avg_w"), 250.0);
  EXPECT_EQ(sheet.number("gpu.power_avg_w", "gpu 1"), 300.0);
  EXPECT_EQ(sheet.lowest("gpu.power_avg_w"), 100.0);
  EXPECT_EQ(sheet.highest("gpu.power_avg_w"), 300.0);
}

TEST(FactSheet, WithoutAFigureOfTheJobTheMedianOfItsPartsStandsForIt) {
  const FactSheet sheet({fact("gpu.power_avg_w", 100.0, "GPU 0"), fact("gpu.power_avg_w", 300.0, "GPU 1"),
                         fact("gpu.power_avg_w", 310.0, "GPU 2")});
  EXPECT_EQ(sheet.number("gpu.power_avg_w"), 300.0);
}

TEST(FactSheet, AFactToldInWordsIsNoNumber) {
  const FactSheet sheet({fact("host.shm_used_share", "nearly full")});
  EXPECT_TRUE(sheet.has("host.shm_used_share"));
  EXPECT_EQ(sheet.number("host.shm_used_share"), std::nullopt);
  EXPECT_EQ(sheet.text("host.shm_used_share"), "nearly full");
}

TEST(FactSheet, SwitchesAreToldByNumberOrWordAndOtherWordsStayUnknown) {
  const auto is = [](std::variant<double, std::string> value) {
    return FactSheet({fact("host.acs", std::move(value))}).is("host.acs");
  };
  EXPECT_EQ(is(1.0), true);
  EXPECT_EQ(is(0.0), false);
  EXPECT_EQ(is("On"), true);
  EXPECT_EQ(is("off"), false);
  EXPECT_EQ(is("partly"), std::nullopt);
}

TEST(FactSheet, TextIsFoundInAnyCaseAndOfAnySubject) {
  const FactSheet sheet({fact("comm.transport", "P2P", "link 0"), fact("comm.transport", "NET-Socket", "link 1")});
  EXPECT_EQ(sheet.text_holds("comm.transport", "SOCKET"), true);
  EXPECT_EQ(sheet.text_holds("comm.transport", "shm"), false);
}

TEST(FactSheet, AVariableKeepsItsSpellingHoweverItWasWritten) {
  const FactSheet sheet(
      {fact("env.value", "DETAIL", "TORCH_DISTRIBUTED_DEBUG"), fact("env.value", 1.0, "NCCL_IB_DISABLE")});
  EXPECT_EQ(sheet.variable("TORCH_DISTRIBUTED_DEBUG"), "DETAIL");
  EXPECT_EQ(sheet.variable("nccl_ib_disable"), "1");
}

TEST(Sized, FactsOfOneKindOfSizeComeByRisingSize) {
  const FactSheet sheet({fact("scaling.step_s", 0.9, "gpus 8"), fact("scaling.step_s", 0.5, "GPUs 1"),
                         fact("scaling.step_s", 0.7, "nodes 2"), fact("scaling.step_s", 0.6, "gpus many"),
                         fact("scaling.step_s", "slow", "gpus 4"), fact("scaling.step_s", 0.8)});
  const auto points = sized(sheet, "scaling.step_s", "gpus");
  ASSERT_EQ(points.size(), 2);
  EXPECT_EQ(points[0].size, 1);
  EXPECT_EQ(points[0].value, 0.5);
  EXPECT_EQ(points[1].size, 8);
}

}  // namespace
}  // namespace gradwatt::diagnosis
