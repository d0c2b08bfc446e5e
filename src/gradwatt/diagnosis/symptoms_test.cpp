#include "gradwatt/diagnosis/symptoms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doubles/made_fact.hpp"

namespace gradwatt::diagnosis {
namespace {

using doubles::fact;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(InputWait, IsToldOnceByTheBestWitness) {
  const auto wait = input_wait(FactSheet({fact("trace.loader_share", 0.5), fact("step.data_wait_share", 0.3),
                                          fact("step.data_wait_s", 0.2), fact("step.time_s", 1.0)}));
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->value, 0.3);
  EXPECT_THAT(wait->facts, ElementsAre("step.data_wait_share"));
}

TEST(InputWait, IsTheWaitOverTheStepWhereNoShareIsTold) {
  const auto wait = input_wait(FactSheet({fact("step.data_wait_s", 0.25), fact("step.time_s", 1.0)}));
  ASSERT_TRUE(wait);
  EXPECT_DOUBLE_EQ(wait->value, 0.25);
  EXPECT_THAT(wait->text, HasSubstr("0.25 s"));
}

TEST(InputWait, IsUnknownWithoutAWitnessAndNotZero) {
  EXPECT_FALSE(input_wait(FactSheet({fact("step.time_s", 1.0), fact("loader.workers", 0.0)})));
  EXPECT_FALSE(input_wait(FactSheet({fact("step.data_wait_s", 0.2), fact("step.time_s", 0.0)})));
}

TEST(InputWait, ALoaderThatAloneIsMuchFasterThanTheTrainingIsNotWaitedFor) {
  EXPECT_FALSE(input_wait(FactSheet({fact("loader.alone_samples_per_s", 900.0), fact("step.samples_per_s", 300.0)})));
}

TEST(BurstyInputWait, IsSeenInTheLongestWaitOverTheMeanOne) {
  EXPECT_TRUE(bursty_input_wait(FactSheet({fact("step.data_wait_s", 0.5), fact("step.data_wait_max_s", 3.5)})));
  EXPECT_FALSE(bursty_input_wait(FactSheet({fact("step.data_wait_s", 0.5), fact("step.data_wait_max_s", 1.0)})));
  EXPECT_FALSE(bursty_input_wait(FactSheet({fact("step.data_wait_max_s", 3.5)})));
}

TEST(PowerLevel, LiesBetweenIdleAndLimit) {
  const auto level = power_level(
      FactSheet({fact("gpu.power_avg_w", 150.0), fact("gpu.power_limit_w", 400.0), fact("gpu.power_idle_w", 60.0)}));
  ASSERT_TRUE(level);
  EXPECT_NEAR(level->value, 90.0 / 340.0, 1e-12);
}

TEST(PowerLevel, IsMidwayBetweenLowestAndHighestWhereNoMeanIsTold) {
  const auto level = power_level(FactSheet({fact("gpu.power_min_w", 200.0), fact("gpu.power_max_w", 300.0),
                                            fact("gpu.power_limit_w", 400.0), fact("gpu.power_idle_w", 100.0)}));
  ASSERT_TRUE(level);
  EXPECT_NEAR(level->value, 0.5, 1e-12);
}

TEST(PowerLevel, IsUnknownWithoutALimit) {
  EXPECT_FALSE(power_level(FactSheet({fact("gpu.power_avg_w", 150.0)})));
  EXPECT_FALSE(power_level(FactSheet({fact("gpu.power_avg_w", 150.0), fact("gpu.power_limit_w", 0.0)})));
  EXPECT_FALSE(power_level(
      FactSheet({fact("gpu.power_avg_w", 150.0), fact("gpu.power_limit_w", 60.0), fact("gpu.power_idle_w", 80.0)})));
}

TEST(BusyAtLowPower, NeedsBothHalves) {
  const auto seen = [](double busy_pct, double power_w) {
    return busy_at_low_power(FactSheet({fact("gpu.utilization_pct", busy_pct), fact("gpu.power_avg_w", power_w),
                                        fact("gpu.power_limit_w", 400.0), fact("gpu.power_idle_w", 60.0)}));
  };
  EXPECT_TRUE(seen(99, 150));
  EXPECT_FALSE(seen(99, 350));
  EXPECT_FALSE(seen(60, 150));
}

TEST(Scaling, OfSpeedAndOfStepsOfOneLocalBatchHaveUnlikeIdeals) {
  const auto speed = scaling(
      FactSheet({fact("scaling.samples_per_s", 100.0, "gpus 1"), fact("scaling.samples_per_s", 300.0, "gpus 4")}),
      "gpus");
  ASSERT_TRUE(speed);
  EXPECT_DOUBLE_EQ(speed->value, 0.75);
  const auto step =
      scaling(FactSheet({fact("scaling.step_s", 0.5, "gpus 1"), fact("scaling.step_s", 0.5, "gpus 4")}), "gpus");
  ASSERT_TRUE(step);
  EXPECT_DOUBLE_EQ(step->value, 1);
}

TEST(Scaling, NeedsTwoSizesOfTheKindAskedFor) {
  EXPECT_FALSE(scaling(FactSheet({fact("scaling.samples_per_s", 100.0, "gpus 1")}), "gpus"));
  EXPECT_FALSE(scaling(
      FactSheet({fact("scaling.samples_per_s", 100.0, "gpus 1"), fact("scaling.samples_per_s", 90.0, "nodes 2")}),
      "gpus"));
}

TEST(SlowerOnMoreHosts, IsToldByFiguresOrInWords) {
  EXPECT_TRUE(slower_on_more_hosts(
      FactSheet({fact("scaling.samples_per_s", 50.0, "nodes 1"), fact("scaling.samples_per_s", 20.0, "nodes 3")})));
  EXPECT_FALSE(slower_on_more_hosts(
      FactSheet({fact("scaling.samples_per_s", 50.0, "nodes 1"), fact("scaling.samples_per_s", 80.0, "nodes 3")})));
  EXPECT_TRUE(slower_on_more_hosts(FactSheet({fact("scaling.observation", "slower with more nodes")})));
  EXPECT_FALSE(slower_on_more_hosts(FactSheet({fact("scaling.observation", "slower with more gpus")})));
}

TEST(Hang, IsACollectiveThatNeverEndsOrALongStandstill) {
  EXPECT_EQ(
      hang(FactSheet({fact("comm.hangs", 1.0, "PIX pairs"), fact("comm.hangs", 0.0, "SYS pairs")}))->facts.front(),
      "comm.hangs");
  EXPECT_EQ(hang(FactSheet({fact("job.no_progress_s", 600.0)}))->facts.front(), "job.no_progress_s");
  EXPECT_EQ(hang(FactSheet({fact("job.hangs", 1.0)}))->facts.front(), "job.hangs");
  EXPECT_FALSE(hang(FactSheet({fact("job.no_progress_s", 30.0), fact("comm.hangs", 0.0), fact("job.hangs", 0.0)})));
}

TEST(SeveralHosts, IsUnknownUntilANumberOfHostsIsTold) {
  EXPECT_EQ(several_hosts(FactSheet({fact("gpu.count", 64.0)})), std::nullopt);
  EXPECT_EQ(several_hosts(FactSheet({fact("job.nodes", 1.0)})), false);
  EXPECT_EQ(several_hosts(FactSheet({fact("job.nodes", 2.0)})), true);
}

TEST(SeveralRanks, SeveralCardsCountAsSuch) {
  EXPECT_EQ(several_ranks(FactSheet({fact("gpu.count", 2.0)})), true);
  EXPECT_EQ(several_ranks(FactSheet({fact("job.world_size", 1.0)})), false);
  EXPECT_EQ(several_ranks(FactSheet()), std::nullopt);
}

TEST(Cards, AreToldApartByName) {
  const auto sheet = [](std::string name) { return FactSheet({fact("gpu.name", std::move(name))}); };
  EXPECT_EQ(consumer_gpu(sheet("NVIDIA GeForce RTX 4090")), true);
  EXPECT_EQ(consumer_gpu(sheet("NVIDIA A100-SXM4-80GB")), false);
  EXPECT_EQ(consumer_gpu(FactSheet()), std::nullopt);
  EXPECT_EQ(server_gpu(sheet("NVIDIA H100 80GB HBM3")), true);
  EXPECT_EQ(server_gpu(sheet("NVIDIA GeForce GTX 1080 Ti")), false);
  EXPECT_EQ(server_gpu(FactSheet()), std::nullopt);
}

}  // namespace
}  // namespace gradwatt::diagnosis
