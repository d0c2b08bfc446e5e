#include "gradwatt/planning/models/convergence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace gradwatt::planning {
namespace {

using ::testing::HasSubstr;

std::vector<TrainingOutcome> runs_at(std::initializer_list<double> batches) {
  std::vector<TrainingOutcome> out;
  for (const double batch : batches) out.push_back({batch, 1e6 * (1 + batch / 1000)});
  return out;
}

TEST(Convergence, FindsTheCriticalBatchFromRunsAtSeveral) {
  const auto model = fit_convergence(runs_at({128, 256, 512, 1024}));
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_NEAR(critical_batch(*model), 1000, 150);
  EXPECT_NEAR(samples_to_target(*model, 700) / 1.7e6, 1, 0.03);
  EXPECT_EQ(model->smallest_batch, 128);
  EXPECT_EQ(model->largest_batch, 1024);
}

TEST(Convergence, ABatchThatFailedIsAStateNotAFigure) {
  auto outcomes = runs_at({128, 256, 512, 1024});
  outcomes.push_back({64, {}});
  outcomes.push_back({2048, {}});
  outcomes.push_back({2048, 9e6});
  const auto model = fit_convergence(outcomes);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->batches.front().state, BatchState::does_not_converge);
  EXPECT_EQ(model->batches.back().state, BatchState::does_not_converge);
  ASSERT_TRUE(gap_of(*model, 64));
  EXPECT_THAT(*gap_of(*model, 64), HasSubstr("did not converge"));
  EXPECT_TRUE(gap_of(*model, 4096));
  EXPECT_FALSE(gap_of(*model, 300));
}

TEST(Convergence, AnEndThatNeedsFarMoreThanTheFormIsOutsideIt) {
  auto outcomes = runs_at({128, 256, 512, 1024});
  outcomes.push_back({32, 4e6});
  const auto model = fit_convergence(outcomes);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->batches.front().state, BatchState::out_of_form);
  EXPECT_EQ(model->smallest_batch, 128);
}

TEST(Convergence, OneBatchNeedsANoiseScaleToSpeakOfOthers) {
  const auto alone = fit_convergence(runs_at({256}));
  ASSERT_TRUE(alone);
  EXPECT_FALSE(gap_of(*alone, 256));
  ASSERT_TRUE(gap_of(*alone, 512));
  EXPECT_THAT(*gap_of(*alone, 512), HasSubstr("noise scale"));
  const auto scaled = fit_convergence(runs_at({256}), Known{1000, 0.3});
  ASSERT_TRUE(scaled);
  EXPECT_FALSE(gap_of(*scaled, 512));
  EXPECT_NEAR(samples_to_target(*scaled, 512) / 1.512e6, 1, 0.05);
  EXPECT_TRUE(gap_of(*scaled, 5000));
}

TEST(Convergence, RefusesRunsOfWhichNoneReachedTheTarget) {
  const std::vector<TrainingOutcome> none{{256, {}}, {512, {}}}, bad{{0, 5}};
  EXPECT_FALSE(fit_convergence(none));
  EXPECT_FALSE(fit_convergence(bad));
  EXPECT_FALSE(fit_convergence({}));
}

}  // namespace
}  // namespace gradwatt::planning
