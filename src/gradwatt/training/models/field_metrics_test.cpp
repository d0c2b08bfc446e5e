#include "gradwatt/training/models/field_metrics.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "gradwatt/training/models/golden_fill.hpp"

namespace gradwatt::training {
namespace {

TEST(LatitudeWeights, OfFiveRowsAreTheGoldenOnes) {
  const auto weights = latitude_weights(5);
  const double expected[] = {0, 1.4644661, 2.0710678, 1.4644661, 0};
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_NEAR(element(weights, i), expected[i], 5e-8);
}

TEST(LatitudeWeights, HaveMeanOneAndTheKnownMaximum) {
  EXPECT_NEAR(latitude_weights(721).mean().item<double>(), 1, 1e-12);
  EXPECT_NEAR(latitude_weights(721).max().item<double>(), 1.5729805, 5e-8);
  EXPECT_NEAR(latitude_weights(720).max().item<double>(), 1.5729798, 5e-8);
}

TEST(LatitudeWeights, FollowTheRowsThatAGridHas) {
  const std::array<double, 3> latitudes_deg{60, 0, -60};
  const auto weights = latitude_weights(latitudes_deg);  // cosines 1/2, 1, 1/2
  EXPECT_NEAR(element(weights, 0), 0.75, 1e-12);
  EXPECT_NEAR(element(weights, 1), 1.5, 1e-12);
}

struct Fields {
  torch::Tensor forecast = at::tensor({1.F, 2.F, 3.F, 4.F, 5.F, 6.F}).view({1, 1, 3, 2});
  torch::Tensor truth = at::ones({1, 1, 3, 2});
  torch::Tensor no_climate = at::zeros({1, 3, 2});
  torch::Tensor weights = latitude_weights(3);  // 0, 3, 0
};

TEST(WeightedRmse, IsTheGoldenOne) {
  const Fields f;
  const auto rmse = weighted_rmse(f.forecast, f.truth, f.weights);
  ASSERT_EQ(rmse.sizes(), at::IntArrayRef({1, 1}));
  EXPECT_NEAR(rmse.item<double>(), 2.5495098, 5e-8);
}

TEST(AnomalyCorrelation, IsTheGoldenOne) {
  const Fields f;
  EXPECT_NEAR(anomaly_correlation(f.forecast, f.truth, f.no_climate, f.weights).item<double>(), 0.9899496, 2e-7)
      << "the known value was computed in single precision";
}

TEST(FieldMetrics, APerfectForecastHasNoErrorAndFullCorrelation) {
  const auto truth = sines({2, 3, 7, 12});
  const auto climate = at::zeros({3, 7, 12});
  EXPECT_EQ(weighted_rmse(truth, truth, latitude_weights(7)).abs().max().item<double>(), 0);
  EXPECT_NEAR(anomaly_correlation(truth, truth, climate, latitude_weights(7)).min().item<double>(), 1, 1e-12);
}

TEST(WeightedRmse, OfAConstantOffsetIsTheOffset) {
  const auto truth = sines({2, 3, 7, 12}).to(at::kDouble);
  const auto rmse = weighted_rmse(truth.add(-2.5), truth, latitude_weights(7));
  EXPECT_NEAR(rmse.min().item<double>(), 2.5, 1e-12);
  EXPECT_NEAR(rmse.max().item<double>(), 2.5, 1e-12);
}

TEST(AnomalyCorrelation, DoesNotDependOnTheSizeOfTheForecastsAnomaly) {
  const auto truth = sines({2, 3, 7, 12});
  const auto forecast = filled({2, 3, 7, 12}, at::kFloat, [](auto i) { return weyl(i); }).add(truth);
  const auto climate = filled({3, 7, 12}, at::kFloat, [](auto i) { return 0.3 * weyl(i + 99); });
  const auto once = anomaly_correlation(forecast, truth, climate, latitude_weights(7));
  const auto thrice =
      anomaly_correlation(forecast.sub(climate).mul(3).add(climate), truth, climate, latitude_weights(7));
  EXPECT_TRUE(at::allclose(once, thrice, 1e-6, 1e-6));
  EXPECT_LT(once.max().item<double>(), 1);
}

TEST(FieldMetrics, EachSampleAndChannelStandsAlone) {
  auto truth = sines({2, 2, 5, 6});
  auto forecast = truth.clone();
  forecast[1][0].add_(1);
  const auto rmse = weighted_rmse(forecast, truth, latitude_weights(5));
  ASSERT_EQ(rmse.sizes(), at::IntArrayRef({2, 2}));
  EXPECT_NEAR(rmse[1][0].item<double>(), 1, 1e-6);
  EXPECT_EQ(rmse.sum().item<double>(), rmse[1][0].item<double>());
}

}  // namespace
}  // namespace gradwatt::training
