#include "gradwatt/training/loop/precision.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace gradwatt::training {
namespace {

TEST(Autocast, ComputesProductsInTheTypeAskedForAndOnlyInside) {
  const auto a = at::ones({4, 4}), b = at::ones({4, 4});
  {
    const Autocast autocast(Precision::bf16, at::kCPU);
    EXPECT_EQ(at::linear(a, b).scalar_type(), at::kBFloat16);
  }
  EXPECT_EQ(at::linear(a, b).scalar_type(), at::kFloat);
  const Autocast none(Precision::fp32, at::kCPU);
  EXPECT_EQ(at::linear(a, b).scalar_type(), at::kFloat);
}

TEST(Autocast, SeesWeightsThatChangedSinceTheLastPass) {
  // Casts of weights are cached within a pass; one kept longer would be the weight before the update.
  auto weight = at::ones({4, 4}).requires_grad_(true);
  const auto input = at::ones({1, 4});
  const auto pass = [&] {
    const Autocast autocast(Precision::bf16, at::kCPU);
    return at::linear(input, weight)[0][0].item<float>();
  };
  EXPECT_EQ(pass(), 4);
  {
    const torch::NoGradGuard no_grad;
    weight.mul_(2);
  }
  EXPECT_EQ(pass(), 8);
}

TEST(Autocast, MayBeNested) {
  const auto a = at::ones({4, 4});
  const Autocast outer(Precision::bf16, at::kCPU);
  { const Autocast inner(Precision::bf16, at::kCPU); }
  EXPECT_EQ(at::linear(a, a).scalar_type(), at::kBFloat16);
}

TEST(CheckPrecision, HalfOnACpuIsRefusedWithWhatToUseInstead) {
  const auto can = check_precision(Precision::fp16, at::kCPU);
  ASSERT_FALSE(can);
  EXPECT_NE(can.error().message.find("bf16"), std::string::npos);
  EXPECT_TRUE(check_precision(Precision::bf16, at::kCPU));
}

}  // namespace
}  // namespace gradwatt::training
