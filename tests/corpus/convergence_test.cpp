// Epochs to a target against batch: the training traces of Zeus (NSDI 2023).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "gradwatt/planning/models/convergence.hpp"
#include "tests/corpus/csv_rows.hpp"

namespace gradwatt::planning {
namespace {

struct Case {
  const char* network;
  double target;
  double error;  ///< allowed, mean over the batches
};

class ConvergenceOnZeus : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* corpus = std::getenv("GRADWATT_CORPUS");
    if (corpus == nullptr) GTEST_SKIP() << "GRADWATT_CORPUS is not set: no recordings to test with";
    rows_ = csv_rows(std::filesystem::path(corpus) / "planner/zeus-nsdi23-trace/summary_train.csv");
    ASSERT_GT(rows_.size(), 3000U);
  }
  [[nodiscard]] std::vector<TrainingOutcome> outcomes(const std::string& network, double target) const {
    std::vector<TrainingOutcome> out;
    for (const auto& row : rows_) {
      if (row.at("network") != network || std::stod(row.at("target_metric")) != target) continue;
      const double epochs = std::stod(row.at("target_epoch"));
      out.push_back({std::stod(row.at("batch_size")), std::isnan(epochs) ? std::nullopt : std::optional(epochs)});
    }
    return out;
  }
  std::vector<std::map<std::string, std::string>> rows_;
};

TEST_F(ConvergenceOnZeus, EpochsToTheTargetFollowTheBatchWithinSixPercentWhereTheFormHolds) {
  for (const auto& [network, target, allowed] : {Case{"resnet50", 0.65, 0.06}, Case{"resnet50", 0.6, 0.06},
                                                 Case{"deepspeech2", 40, 0.06}, Case{"shufflenetv2", 0.5, 0.06}}) {
    const auto model = fit_convergence(outcomes(network, target));
    ASSERT_TRUE(model) << model.error().message;
    double error = 0, count = 0;
    std::string left_out;
    for (const auto& batch : model->batches) {
      if (batch.state != BatchState::converges) {
        left_out +=
            " " + std::to_string(static_cast<int>(batch.global_batch)) + " (" + std::string(name_of(batch.state)) + ")";
        continue;
      }
      error += std::abs(samples_to_target(*model, batch.global_batch) / *batch.samples - 1);
      ++count;
    }
    printf("  %s to %g: batches %g to %g, critical batch %.0f, error %.1f %% over %.0f batches; outside:%s\n", network,
           target, model->smallest_batch, model->largest_batch, critical_batch(*model), 100 * error / count, count,
           left_out.c_str());
    EXPECT_LE(error / count, allowed) << network;
    EXPECT_GE(count, 4) << network;
  }
}

TEST_F(ConvergenceOnZeus, BatchesAtWhichRunsFailAreFlaggedAtBothEnds) {
  const auto resnet = fit_convergence(outcomes("resnet50", 0.65));
  ASSERT_TRUE(resnet);
  EXPECT_EQ(resnet->batches.front().global_batch, 64);
  EXPECT_EQ(resnet->batches.front().state, BatchState::does_not_converge);
  const auto speech = fit_convergence(outcomes("deepspeech2", 40));
  ASSERT_TRUE(speech);
  EXPECT_EQ(speech->batches.back().global_batch, 512);
  EXPECT_EQ(speech->batches.back().state, BatchState::does_not_converge);
  const auto ncf = fit_convergence(outcomes("ncf", 0.41));
  ASSERT_TRUE(ncf);
  for (const auto& batch : ncf->batches)
    if (batch.global_batch < 64) EXPECT_EQ(batch.state, BatchState::does_not_converge) << batch.global_batch;
  EXPECT_TRUE(gap_of(*ncf, 16));
  EXPECT_FALSE(gap_of(*ncf, 1024));
}

}  // namespace
}  // namespace gradwatt::planning
