#include "gradwatt/training/models/loss.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gradwatt/training/models/golden_fill.hpp"

namespace gradwatt::training {
namespace {

TEST(CrossEntropy, IsTheMeanNegativeLogProbabilityOfTheLabels) {
  const auto logits = at::tensor({0.0, std::log(3.0), std::log(4.0), 0.0}, at::kDouble).view({2, 2});
  const auto labels = at::tensor({1, 0}, at::kLong);  // probabilities 3/4 and 4/5
  EXPECT_NEAR(cross_entropy(logits, labels).item<double>(), -(std::log(0.75) + std::log(0.8)) / 2, 1e-12);
}

TEST(CrossEntropy, SmoothingSharesTheTargetAmongAllClasses) {
  const auto logits = at::tensor({0.0, std::log(3.0)}, at::kDouble).view({1, 2});
  const auto labels = at::tensor({1}, at::kLong);
  // Target 1 − 0.2 + 0.1 for the label, 0.1 for the other class.
  EXPECT_NEAR(cross_entropy(logits, labels, 0.2).item<double>(), -(0.9 * std::log(0.75) + 0.1 * std::log(0.25)), 1e-12);
}

TEST(CrossEntropy, OfHalfPrecisionLogitsIsComputedInSingle) {
  const auto logits = sines({4, 10}).to(at::kBFloat16);
  const auto loss = cross_entropy(logits, at::tensor({0, 1, 2, 3}, at::kLong));
  EXPECT_EQ(loss.scalar_type(), at::kFloat);
  EXPECT_EQ(loss.item<float>(),
            cross_entropy(logits.to(at::kFloat), at::tensor({0, 1, 2, 3}, at::kLong)).item<float>());
}

TEST(RelativeL2, IsTheMeanOverSamplesNotThePooledError) {
  const auto target = at::tensor({3.0, 4.0, 30.0, 40.0}, at::kDouble).view({2, 1, 1, 2});
  const auto prediction = at::tensor({3.0, 5.0, 30.0, 40.0}, at::kDouble).view({2, 1, 1, 2});
  EXPECT_NEAR(relative_l2(prediction, target).item<double>(), (1.0 / 5 + 0) / 2, 1e-12);
}

TEST(RelativeL2, IsOneForNoForecastAndHasNoNaNGradientAtAPerfectOne) {
  const auto target = sines({2, 3, 4, 4});
  EXPECT_NEAR(relative_l2(at::zeros_like(target), target).item<double>(), 1, 1e-6);
  auto perfect = target.clone().set_requires_grad(true);
  relative_l2(perfect, target).backward();
  EXPECT_FALSE(perfect.grad().isnan().any().item<bool>());
}

TEST(RollOut, OfOneStepIsTheRelativeError) {
  const auto model = must_make({.name = "afno-tiny", .height = 8, .width = 16, .patch = 2, .embed = 8, .blocks = 2});
  const auto input = sines({1, 3, 8, 16}), target = sines({1, 3, 8, 16}).neg();
  const torch::Tensor targets[] = {target};
  EXPECT_EQ(roll_out_loss(*model, input, targets).item<float>(),
            relative_l2(model->forward(input), target).item<float>());
}

}  // namespace
}  // namespace gradwatt::training
