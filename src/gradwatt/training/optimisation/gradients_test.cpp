#include "gradwatt/training/optimisation/gradients.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gradwatt::training {
namespace {

torch::Tensor with_gradient(const std::vector<double>& gradient, at::ScalarType type = at::kDouble) {
  auto w = at::zeros({static_cast<std::int64_t>(gradient.size())}, type).requires_grad_(true);
  w.mutable_grad() = at::tensor(gradient, type);
  return w;
}

TEST(Gradients, ClippingByNormOne) {
  const NamedTensors parameters{{"w", with_gradient({3, 4})}};
  const double norm = gradient_norm(parameters);
  EXPECT_DOUBLE_EQ(norm, 5);
  scale_gradients(parameters, clip_factor(norm, 1));
  EXPECT_NEAR(parameters[0].second.grad()[0].item<double>(), 0.59999988, 2e-8);
  EXPECT_NEAR(parameters[0].second.grad()[1].item<double>(), 0.79999984, 2e-8);
}

TEST(Gradients, ANormBelowTheLimitIsLeftAlone) { EXPECT_EQ(clip_factor(0.5, 1), 1); }

TEST(Gradients, TheNormIsOverAllParametersTogetherAndSkipsThoseWithoutAGradient) {
  const NamedTensors parameters{
      {"a", with_gradient({3})}, {"b", with_gradient({4}, at::kFloat)}, {"c", at::zeros({2})}};
  EXPECT_DOUBLE_EQ(gradient_norm(parameters), 5);
}

TEST(Gradients, OneValueThatIsNotFiniteShowsInTheNorm) {
  EXPECT_TRUE(std::isnan(gradient_norm({{"w", with_gradient({1, NAN})}})));
  EXPECT_TRUE(std::isinf(gradient_norm({{"w", with_gradient({1, INFINITY})}})));
}

TEST(Gradients, StridedGradientsCountToo) {
  auto w = at::zeros({4}, at::kDouble).requires_grad_(true);
  w.mutable_grad() =
      at::tensor({3.0, 9.0, 4.0, 9.0}, at::kDouble).as_strided({2}, {2}).repeat({2}).as_strided({4}, {1});
  const NamedTensors parameters{{"w", w}};
  EXPECT_DOUBLE_EQ(gradient_norm(parameters), std::sqrt(50.0));
}

}  // namespace
}  // namespace gradwatt::training
