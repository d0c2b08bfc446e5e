#include "gradwatt/planning/models/throughput.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace gradwatt::planning {
namespace {

using ::testing::HasSubstr;

constexpr ThroughputParameters kTruth{.grad_fixed_s = 0.02,
                                      .grad_per_sample_s = 0.001,
                                      .net_inside_s = 0.004,
                                      .growth_inside = 0.15,
                                      .net_across_s = 0.05,
                                      .growth_across = 0.15,
                                      .overlap = 2,
                                      .two_nodes = 1.3};

StepObservation observed(const StepLoad& load) {
  const auto time = step_time(throughput_of(kTruth, 0.1), load);
  return {load, time.step_s, time.exposed_s};
}
std::vector<StepObservation> profile(std::initializer_list<std::pair<double, double>> replicas_and_nodes) {
  std::vector<StepObservation> out;
  for (const auto& [replicas, nodes] : replicas_and_nodes)
    for (const double batch : {16.0, 64.0, 256.0}) out.push_back(observed({replicas, nodes, batch, 1}));
  return out;
}

TEST(Throughput, PredictsFromAFewStepsWhatTheFormSays) {
  const auto model = fit_throughput(profile({{1, 1}, {2, 1}, {4, 1}, {2, 2}, {4, 4}}));
  ASSERT_TRUE(model) << model.error().message;
  const StepLoad far{32, 8, 64, 1};
  const double truth = observed(far).step_s;
  EXPECT_NEAR(step_time(*model, far).step_s / truth, 1, 0.05);
  const auto figure = step_figure(*model, far);
  EXPECT_LT(figure.low90, truth);
  EXPECT_GT(figure.high90, truth);
}

TEST(Throughput, OneReplicaWaitsForNobodyAndAccumulationRepeatsThePass) {
  const auto model = throughput_of(kTruth, 0.1);
  const auto once = step_time(model, {1, 1, 100, 1}), four = step_time(model, {1, 1, 100, 4});
  EXPECT_DOUBLE_EQ(once.step_s, 0.12);
  EXPECT_DOUBLE_EQ(once.exposed_s, 0);
  EXPECT_DOUBLE_EQ(four.step_s, 0.48);
}

TEST(Throughput, ASlowInputPipelineBoundsTheStepAndShowsAsInput) {
  auto model = throughput_of(kTruth, 0.1);
  model.loader_samples_per_s = 500;
  const auto time = step_time(model, {1, 1, 100, 2});
  EXPECT_DOUBLE_EQ(time.step_s, 0.4);
  EXPECT_DOUBLE_EQ(time.input_s, 0.4 - 0.24);
  EXPECT_DOUBLE_EQ(step_figure(model, {1, 1, 100, 2}).high90, 0.4);
}

TEST(Throughput, TheIntervalWidensWithEachDoublingBeyondTheProfile) {
  const auto model = fit_throughput(profile({{1, 1}, {2, 1}, {4, 1}, {2, 2}, {4, 4}}));
  ASSERT_TRUE(model);
  double before = 1;
  for (const double replicas : {4.0, 16.0, 64.0, 256.0}) {
    const auto figure = step_figure(*model, {replicas, replicas / 4 > 1 ? replicas / 4 : 4, 32, 1});
    const double width = figure.high90 / figure.low90;
    EXPECT_GT(width, before) << replicas;
    before = width;
  }
}

TEST(Throughput, NamesTheProfileThatIsMissingAcrossNodesAndInsideOne) {
  const auto one = fit_throughput(profile({{1, 1}}));
  ASSERT_TRUE(one);
  EXPECT_FALSE(gap_of(*one, {1, 1, 64, 1}));
  ASSERT_TRUE(gap_of(*one, {4, 1, 64, 1}));
  EXPECT_THAT(*gap_of(*one, {4, 1, 64, 1}), HasSubstr("profile two GPUs of one node"));
  const auto node = fit_throughput(profile({{1, 1}, {2, 1}}));
  ASSERT_TRUE(node);
  EXPECT_FALSE(gap_of(*node, {4, 1, 64, 1}));
  ASSERT_TRUE(gap_of(*node, {4, 2, 64, 1}));
  EXPECT_THAT(*gap_of(*node, {4, 2, 64, 1}), HasSubstr("profile two nodes"));
}

TEST(Throughput, ADescribedLinkStandsInForAProfileAcrossNodes) {
  const auto model = fit_throughput(profile({{1, 1}, {2, 1}, {4, 1}}), {.net_across_s = Known{0.05, 0.4}});
  ASSERT_TRUE(model);
  const StepLoad load{16, 4, 64, 1};
  EXPECT_FALSE(gap_of(*model, load));
  const auto figure = step_figure(*model, load);
  const double truth = observed(load).step_s;
  EXPECT_LT(figure.low90, truth);
  EXPECT_GT(figure.high90, truth);
}

TEST(Throughput, RefusesAStepThatTakesNoTimeOrWaitsLongerThanItLasts) {
  EXPECT_FALSE(fit_throughput({}));
  const std::vector<StepObservation> nothing{{{1, 1, 8, 1}, 0, {}}}, waiting{{{2, 1, 8, 1}, 0.1, 0.2}};
  const auto no_time = fit_throughput(nothing);
  ASSERT_FALSE(no_time);
  EXPECT_EQ(no_time.error().code, core::Errc::unusable_input);
  EXPECT_FALSE(fit_throughput(waiting));
}

}  // namespace
}  // namespace gradwatt::planning
