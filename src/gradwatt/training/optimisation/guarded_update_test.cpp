#include "gradwatt/training/optimisation/guarded_update.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace gradwatt::training {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Fixture {
  NamedTensors parameters{{"w", at::ones({2}).requires_grad_(true)}};
  std::unique_ptr<Optimizer> optimizer = make_optimizer({.name = "sgd", .momentum = 0.9}, parameters).value();
  LossScaler scaler{LossScaler::Options{.initial = 1024, .interval = 2}};

  bool update(std::vector<double> scaled_gradient, UpdateGuard guard) {
    parameters[0].second.mutable_grad() = at::tensor(scaled_gradient, at::kFloat);
    return guarded_update(*optimizer, scaler, guard, 1);
  }
  [[nodiscard]] double weight(int i) const { return parameters[0].second[i].item<double>(); }
};

TEST(GuardedUpdate, UnscalesBeforeItClips) {
  Fixture f;
  // (3, 4) is clipped to (0.6, 0.8); clipping the scaled gradients first would leave next to nothing.
  EXPECT_TRUE(f.update({3 * 1024, 4 * 1024}, {.clip = 1}));
  EXPECT_NEAR(f.weight(0), 1 - 0.6, 1e-6);
  EXPECT_NEAR(f.weight(1), 1 - 0.8, 1e-6);
}

TEST(GuardedUpdate, AnOverflowLeavesWeightsAndVelocityAndHalvesTheScale) {
  Fixture f;
  EXPECT_TRUE(f.update({1024, 0}, {.look_for_overflow = true}));
  const double before = f.weight(0), velocity = f.optimizer->state()[0].second.flatten()[0].item<double>();
  for (const double bad : {kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    const double scale = f.scaler.scale();
    EXPECT_FALSE(f.update({1024, bad}, {.look_for_overflow = true}));
    EXPECT_EQ(f.weight(0), before);
    EXPECT_EQ(f.optimizer->state()[0].second.flatten()[0].item<double>(), velocity);
    EXPECT_EQ(f.scaler.scale(), scale / 2);
  }
}

TEST(GuardedUpdate, ClippingLooksToo) {
  Fixture f;
  EXPECT_FALSE(f.update({kInfinity, 0}, {.clip = 1}));
  EXPECT_EQ(f.weight(0), 1);
}

TEST(GuardedUpdate, WhatTheRanksAgreedOnStandsWhateverThisRankSees) {
  Fixture f;
  EXPECT_FALSE(f.update({1, 1}, {.look_for_overflow = true, .overflow = true}));
  EXPECT_EQ(f.weight(0), 1);
  EXPECT_EQ(f.scaler.scale(), 512);
  EXPECT_TRUE(f.update({512, 0}, {.look_for_overflow = true, .overflow = false}));
  EXPECT_EQ(f.weight(0), 0);
}

TEST(GuardedUpdate, TheScaleGrowsAfterEnoughGoodSteps) {
  Fixture f;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(f.update({1, 1}, {.look_for_overflow = true}));
  EXPECT_EQ(f.scaler.scale(), 2048);
}

TEST(GuardedUpdate, OverflowsAtEveryScaleAreHopeless) {
  Fixture f;
  int tries = 0;
  while (!f.scaler.hopeless() && tries < 100) f.update({kInfinity, 0}, {.look_for_overflow = true}), ++tries;
  EXPECT_EQ(tries, 27) << "from 1024 down below 1/65536";
  EXPECT_EQ(f.weight(0), 1);
}

}  // namespace
}  // namespace gradwatt::training
