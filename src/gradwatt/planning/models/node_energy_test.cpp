#include "gradwatt/planning/models/node_energy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace gradwatt::planning {
namespace {

using ::testing::Contains;
using ::testing::Not;

constexpr NodePower kNode{400, 50, 300, 0.25};

TEST(NodeEnergy, SumsBaseIdleBusyWaitingNetworkAndWhatStandsBehind) {
  // Two nodes of four GPUs, 100 s, of which 60 s busy and 20 s waiting; by hand: base 80 kJ, idle 40 kJ, busy 144 kJ,
  // waiting 12 kJ, network 10 kJ; supplies 5 % and a PUE of 1.2 on top.
  const auto split = energy_split(kNode, {2, 8, 100, 60, 20}, {.network_w = 100, .psu = 1.05, .pue = 1.2});
  EXPECT_DOUBLE_EQ(split.base_j, 80e3);
  EXPECT_DOUBLE_EQ(split.gpu_idle_j, 40e3);
  EXPECT_DOUBLE_EQ(split.gpu_busy_j, 144e3);
  EXPECT_DOUBLE_EQ(split.gpu_wait_j, 12e3);
  EXPECT_DOUBLE_EQ(split.network_j, 10e3);
  EXPECT_NEAR(split.total_j, 286e3 * 1.05 * 1.2, 1e-6);
}

std::vector<EnergyObservation> runs() {
  std::vector<EnergyObservation> out;
  for (const NodeTimes t :
       {NodeTimes{1, 4, 100, 0, 0}, {1, 4, 100, 95, 0}, {2, 8, 100, 60, 35}, {4, 16, 100, 30, 65}}) {
    const auto split = energy_split(kNode, t);
    out.push_back({t, split.total_j, split.total_j - split.base_j});
  }
  return out;
}

TEST(NodeEnergy, RunsWithDifferentSharesOfWaitingTellAllFourPowers) {
  const auto model = fit_node_energy(runs());
  ASSERT_TRUE(model) << model.error().message;
  const auto power = node_power(*model);
  EXPECT_NEAR(power.base_w, 400, 15);
  EXPECT_NEAR(power.idle_w, 50, 5);
  EXPECT_NEAR(power.active_w, 300, 10);
  EXPECT_NEAR(power.wait_share, 0.25, 0.05);
  EXPECT_TRUE(model->knows_base);
}

TEST(NodeEnergy, SaysThatARunWithoutWaitingDoesNotShowWhatWaitingCosts) {
  const std::vector<EnergyObservation> one{runs()[0], runs()[1]};
  const auto model = fit_node_energy(one);
  ASSERT_TRUE(model);
  EXPECT_THAT(model->fit.unidentified, Contains("waiting"));
  const NodeTimes busy{1, 4, 100, 95, 0}, waiting{8, 32, 100, 20, 75};
  const auto known = energy_figure(*model, busy), guessed = energy_figure(*model, waiting);
  EXPECT_GT(guessed.high90 / guessed.low90, known.high90 / known.low90);
  const double truth = energy_split(kNode, waiting).total_j;
  EXPECT_LT(guessed.low90, truth);
  EXPECT_GT(guessed.high90, truth);
}

TEST(NodeEnergy, GpuEnergyAloneDoesNotKnowTheNode) {
  std::vector<EnergyObservation> gpus;
  for (auto o : runs()) {
    o.node_energy_j.reset();
    gpus.push_back(o);
  }
  const auto model = fit_node_energy(gpus);
  ASSERT_TRUE(model);
  EXPECT_FALSE(model->knows_base);
  EXPECT_THAT(model->fit.unidentified, Contains("node without GPUs"));
  EXPECT_THAT(model->fit.unidentified, Not(Contains("work of a GPU")));
}

TEST(NodeEnergy, RefusesTimesThatCannotBe) {
  const std::vector<EnergyObservation> longer{{{1, 4, 100, 90, 20}, 1e5, {}}}, without{{{1, 4, 100, 90, 5}, {}, {}}};
  EXPECT_FALSE(fit_node_energy(longer));
  EXPECT_FALSE(fit_node_energy(without));
}

TEST(NodeEnergy, CountsWholeSwitches) {
  EXPECT_EQ(switched_network_w(1, 8), 0);
  EXPECT_EQ(switched_network_w(8, 8), 12 * 1600);
  EXPECT_EQ(switched_network_w(32, 8), 12 * 1600);
  EXPECT_EQ(switched_network_w(64, 8), 24 * 1600);
}

}  // namespace
}  // namespace gradwatt::planning
