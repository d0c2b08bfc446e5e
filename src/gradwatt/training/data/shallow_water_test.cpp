#include "gradwatt/training/data/shallow_water.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gradwatt::training {
namespace {

constexpr double kPi = std::numbers::pi;

TEST(ShallowWater, ConservesMassToRoundingAndLosesEnergyOnlySlowly) {
  ShallowWater water({.rows = 32, .columns = 64});
  water.begin_random(3);
  const double volume = water.volume_m3(), energy = water.energy_m5_s2();
  ASSERT_TRUE(water.advance(5 * 86'400.0));
  EXPECT_NEAR(water.volume_m3() / volume, 1.0, 1e-12);
  EXPECT_LT(water.energy_m5_s2(), energy);
  EXPECT_GT(water.energy_m5_s2(), 0.98 * energy);
}

TEST(ShallowWater, ConservesEnergyWithoutViscosity) {
  ShallowWater water({.rows = 32, .columns = 64, .viscosity_m2_s = 0});
  water.begin_random(3);
  ShallowWater still({.rows = 32, .columns = 64});
  // The energy of a flat layer at rest is out of reach of the flow: count only what is above it.
  const double ground = still.energy_m5_s2();
  const double before = water.energy_m5_s2() - ground;
  ASSERT_TRUE(water.advance(86'400.0));
  EXPECT_NEAR((water.energy_m5_s2() - ground) / before, 1.0, 1e-3);
}

TEST(ShallowWater, CarriesGravityWavesAtTheSquareRootOfGravityTimesDepth) {
  // A narrow belt at the equator that does not turn: a wave around the globe comes back after 2πa / sqrt(gH).
  const ShallowWaterSettings settings{.rows = 4,
                                      .columns = 128,
                                      .latitude_limit_deg = 2,
                                      .mean_depth_m = 1000,
                                      .rotation_per_s = 0,
                                      .viscosity_m2_s = 0};
  ShallowWater water(settings);
  constexpr int kWave = 2;
  const double speed = std::sqrt(settings.gravity_m_s2 * settings.mean_depth_m);
  auto h = water.depth_m(), u = water.u_m_s();
  for (std::size_t at = 0; at < h.size(); ++at) {
    const double cell = (static_cast<double>(at % 128) + 0.5) * 2 * kPi / 128, side = cell - kPi / 128;
    h[at] += std::cos(kWave * cell);                // 1 m on 1000 m: linear
    u[at] = speed / 1000 * std::cos(kWave * side);  // travels east only
  }
  // After three quarters of its period the wave has moved by three quarters of its length.
  const double period = 2 * kPi * settings.radius_m / (kWave * speed);
  ASSERT_TRUE(water.advance(0.75 * period));
  double in_phase = 0, behind = 0;
  for (std::size_t i = 0; i < 128; ++i) {
    const double cell = (static_cast<double>(i) + 0.5) * 2 * kPi / 128;
    in_phase += (h[128 + i] - 1000) * std::cos(kWave * cell) / 64;
    behind += (h[128 + i] - 1000) * std::sin(kWave * cell) / 64;
  }
  const double moved = std::atan2(behind, in_phase) / (2 * kPi) + 1.0;
  EXPECT_NEAR(moved, 0.75, 0.001);
  EXPECT_NEAR(std::hypot(in_phase, behind), 1.0, 0.02);
}

TEST(ShallowWater, KeepsABalancedFlowAroundTheAxisSteady) {
  // Solid rotation with the depth that balances it (second test case of Williamson et al. 1992, inside the walls).
  const ShallowWaterSettings settings{.rows = 64, .columns = 16, .mean_depth_m = 3000, .viscosity_m2_s = 0};
  ShallowWater water(settings);
  const double u0 = 2 * kPi * settings.radius_m / (12 * 86'400.0);
  auto h = water.depth_m(), u = water.u_m_s();
  for (std::size_t at = 0; at < h.size(); ++at) {
    const double latitude = water.latitude_deg(static_cast<int>(at / 16)) * kPi / 180;
    u[at] = u0 * std::cos(latitude);
    h[at] -= (settings.radius_m * settings.rotation_per_s * u0 + 0.5 * u0 * u0) * std::pow(std::sin(latitude), 2) /
             settings.gravity_m_s2;
  }
  const std::vector<double> before(h.begin(), h.end());
  ASSERT_TRUE(water.advance(2 * 86'400.0));
  double worst = 0, swing = before[before.size() / 2] - before[0];
  for (std::size_t at = 0; at < before.size(); ++at)
    worst = std::max(worst, std::abs(water.depth_m()[at] - before[at]));
  EXPECT_LT(worst, 0.002 * swing);
}

TEST(ShallowWater, StaysAtRestWhenFlat) {
  ShallowWater water({.rows = 8, .columns = 8});
  ASSERT_TRUE(water.advance(86'400.0));
  for (const double h : water.depth_m()) EXPECT_NEAR(h, 1500, 1e-9);
  for (const double u : water.u_m_s()) EXPECT_NEAR(u, 0, 1e-12);
}

TEST(ShallowWater, IsStableOverAMonthAndKeepsMoving) {
  ShallowWater water({.rows = 24, .columns = 48});
  water.begin_random(8);
  std::vector<float> before(3 * 24 * 48), after(before.size());
  ASSERT_TRUE(water.advance(30 * 86'400.0));
  water.write_fields(before);
  ASSERT_TRUE(water.advance(6 * 3600.0));
  water.write_fields(after);
  double wind = 0, change = 0;
  for (std::size_t i = 24 * 48; i < before.size(); ++i) {
    wind += before[i] * before[i];
    change += (after[i] - before[i]) * (after[i] - before[i]);
  }
  EXPECT_GT(std::sqrt(wind / (2 * 24 * 48)), 2.0);  // m/s
  EXPECT_LT(std::sqrt(wind / (2 * 24 * 48)), 40.0);
  EXPECT_GT(change / wind, 1e-3);
}

TEST(ShallowWater, BeginsTheSameForTheSameSeedOnly) {
  ShallowWater a({.rows = 8, .columns = 16}), b({.rows = 8, .columns = 16}), c({.rows = 8, .columns = 16});
  a.begin_random(1);
  b.begin_random(1);
  c.begin_random(2);
  EXPECT_TRUE(std::equal(a.depth_m().begin(), a.depth_m().end(), b.depth_m().begin()));
  EXPECT_FALSE(std::equal(a.depth_m().begin(), a.depth_m().end(), c.depth_m().begin()));
}

TEST(ShallowWater, SaysWhenItHasBecomeUnstable) {
  ShallowWater water({.rows = 8, .columns = 16});
  water.begin_random(1);
  water.depth_m()[5] = -2000;
  EXPECT_FALSE(water.advance(86'400.0));
}

}  // namespace
}  // namespace gradwatt::training
