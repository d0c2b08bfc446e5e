#include "gradwatt/training/optimisation/schedule.hpp"

#include <gtest/gtest.h>

#include "gradwatt/training/optimisation/loss_scaler.hpp"

namespace gradwatt::training {
namespace {

TEST(Schedule, WarmUpByEpochReachesTheScaledRateInFiveSteps) {
  const auto schedule =
      Schedule::create({.rate = 0.1, .reference_batch = 256, .warmup_epochs = 5, .warmup_by_epoch = true}, 8192, 90)
          .value();
  const double expected[] = {0.1, 0.72, 1.34, 1.96, 2.58, 3.2};
  for (int epoch = 0; epoch < 6; ++epoch) EXPECT_NEAR(schedule.rate(epoch + 0.5), expected[epoch], 1e-12) << epoch;
}

TEST(Schedule, WarmUpByStepIsALine) {
  const auto schedule = Schedule::create({.rate = 0.1, .reference_batch = 256, .warmup_epochs = 5}, 512, 90).value();
  EXPECT_NEAR(schedule.rate(0), 0.1, 1e-12);
  EXPECT_NEAR(schedule.rate(2.5), 0.15, 1e-12);
  EXPECT_NEAR(schedule.rate(5), 0.2, 1e-12);
}

TEST(Schedule, TheRateFollowsTheNumberOfRanksExactly) {
  const ScheduleSpec spec{.rate = 0.1, .reference_batch = 256};
  const double one = Schedule::create(spec, 64, 10).value().rate(3);
  for (const int ranks : {2, 4, 8}) EXPECT_EQ(Schedule::create(spec, 64L * ranks, 10).value().rate(3), ranks * one);
}

TEST(Schedule, PlateauHalvesAfterMoreBadEpochsThanPatienceAllows) {
  auto schedule = Schedule::create({.name = "plateau", .rate = 1, .factor = 0.5, .patience = 2}, 1, 90).value();
  const double losses[] = {1, .9, .9, .9, .9, .9, .9, .8, .8, .8, .8};
  const double rates[] = {1, 1, 1, 1, .5, .5, .5, .5, .5, .5, .25};
  for (int i = 0; i < 11; ++i) {
    schedule.epoch_ended(losses[i]);
    EXPECT_EQ(schedule.rate(i + 1), rates[i]) << i;
  }
}

TEST(Schedule, PlateauStopsAtTheSmallestRateAndWaitsForTheCooldown) {
  auto floor =
      Schedule::create({.name = "plateau", .rate = 1, .factor = 0.1, .patience = 0, .min_rate = 0.05}, 1, 9).value();
  for (int i = 0; i < 6; ++i) floor.epoch_ended(1);
  EXPECT_EQ(floor.rate(7), 0.05);
  auto cool =
      Schedule::create({.name = "plateau", .rate = 1, .factor = 0.5, .patience = 0, .cooldown = 2}, 1, 9).value();
  for (int i = 0; i < 4; ++i) cool.epoch_ended(1);
  EXPECT_EQ(cool.rate(4), 0.5) << "one cut, then two epochs of rest";
  cool.epoch_ended(1);
  EXPECT_EQ(cool.rate(5), 0.25);
}

TEST(Schedule, AResumedPlateauGoesOnWhereItStood) {
  const ScheduleSpec spec{.name = "plateau", .rate = 1, .factor = 0.5, .patience = 2};
  auto whole = Schedule::create(spec, 1, 90).value();
  for (int i = 0; i < 3; ++i) whole.epoch_ended(1);
  auto resumed = Schedule::create(spec, 1, 90).value();
  resumed.restore(whole.state());
  for (int i = 0; i < 3; ++i) {
    whole.epoch_ended(1);
    resumed.epoch_ended(1);
    EXPECT_EQ(whole.rate(10), resumed.rate(10));
  }
}

TEST(Schedule, MultistepAndCosine) {
  const auto steps = Schedule::create({.name = "multistep", .rate = 1, .milestones = {30, 60, 80}}, 1, 90).value();
  EXPECT_EQ(steps.rate(29.9), 1);
  EXPECT_NEAR(steps.rate(30), 0.1, 1e-15);
  EXPECT_NEAR(steps.rate(85), 0.001, 1e-15);
  const auto cosine = Schedule::create({.name = "cosine", .rate = 1}, 1, 100).value();
  EXPECT_NEAR(cosine.rate(50), 0.5, 1e-12);
  EXPECT_NEAR(cosine.rate(100), 0, 1e-12);
}

TEST(Schedule, NonsenseIsRefusedWithTheNearestName) {
  EXPECT_NE(Schedule::create({.name = "cosin"}, 1, 1).error().message.find("cosine"), std::string::npos);
  EXPECT_FALSE(Schedule::create({.rate = 0}, 1, 1));
  EXPECT_FALSE(Schedule::create({.warmup_epochs = -1}, 1, 1));
}

TEST(LossScaler, FollowsTheKnownSequence) {
  LossScaler scaler({.interval = 3});
  const bool overflow[] = {true, true, false, false, false, true, false, false, false, false};
  const double scales[] = {32768, 16384, 16384, 16384, 32768, 16384, 16384, 16384, 32768, 32768};
  for (int i = 0; i < 10; ++i) {
    scaler.update(overflow[i]);
    EXPECT_EQ(scaler.scale(), scales[i]) << i;
  }
}

TEST(LossScaler, SwitchedOffItIsOne) {
  LossScaler scaler({.enabled = false});
  scaler.update(true);
  EXPECT_EQ(scaler.scale(), 1);
}

}  // namespace
}  // namespace gradwatt::training
