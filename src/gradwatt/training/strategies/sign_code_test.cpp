#include "gradwatt/training/strategies/sign_code.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace gradwatt::training {
namespace {

torch::Tensor coded(const torch::Tensor& values, torch::Tensor& lost) {
  std::vector<std::byte> code(sign_code_bytes(values.numel()));
  lost = values.clone();
  encode_signs(lost, code);
  auto back = at::zeros_like(values);
  add_signs(code, 1, back);
  return back;
}

// ‖(1, −2, 3, −4)‖₁/4 = 2.5; what is lost has ‖e‖² = 30 − 100/4 = 5.
TEST(SignCode, KeepsTheSignsAndTheMeanSize) {
  torch::Tensor lost;
  EXPECT_TRUE(coded(at::tensor({1.0, -2.0, 3.0, -4.0}), lost).equal(at::tensor({2.5, -2.5, 2.5, -2.5})));
  EXPECT_TRUE(lost.equal(at::tensor({-1.5, 0.5, 0.5, -1.5})));
  EXPECT_DOUBLE_EQ(lost.square().sum().item<double>(), 5);
}

TEST(SignCode, WhatArrivesAndWhatIsLostAreWhatWasGiven) {
  at::manual_seed(1);
  for (const std::int64_t count : {1, 7, 8, 9, 1001})
    for (const auto type : {at::kFloat, at::kDouble}) {
      const auto values = at::randn({count}, type);
      torch::Tensor lost;
      const auto back = coded(values, lost);
      EXPECT_LE((back + lost - values).abs().max().item<double>(), type == at::kFloat ? 1e-6 : 1e-15) << count;
    }
}

TEST(SignCode, ZeroCountsAsPositiveAndNothingIsCodedAsNothing) {
  torch::Tensor lost;
  EXPECT_TRUE(coded(at::zeros({3}), lost).equal(at::zeros({3})));
  EXPECT_TRUE(coded(at::tensor({0.0, 3.0, -3.0}), lost).equal(at::tensor({2.0, 2.0, -2.0}))) << "an fp32 scale";
  EXPECT_EQ(sign_code_bytes(0), 4U);
}

}  // namespace
}  // namespace gradwatt::training
