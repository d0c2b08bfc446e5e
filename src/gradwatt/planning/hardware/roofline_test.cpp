#include "gradwatt/planning/hardware/roofline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::planning {
namespace {

using testing::HasSubstr;

const catalog::GpuRow& gpu(std::string_view name) { return *catalog::find_gpu(name); }

TEST(Roofline, TheRidgeIsPeakOverBandwidth) {
  EXPECT_NEAR(*ridge_flops_per_byte(gpu("A100 SXM4 40GB"), Arithmetic::bf16), 200.6, 0.1);
  EXPECT_NEAR(*ridge_flops_per_byte(gpu("A100 SXM4 40GB"), Arithmetic::fp32), 12.5, 0.1);
  EXPECT_FALSE(ridge_flops_per_byte(gpu("T4"), Arithmetic::bf16)) << "it has no bf16";
}

TEST(Roofline, ArithmeticIntensityDecidesWhereNothingWasMeasured) {
  const Workload work{.arithmetic = Arithmetic::bf16, .flops_per_sample = 24e9, .bytes_per_sample = 0.4e9};
  EXPECT_EQ(classify(work, gpu("A100 SXM4 40GB")).bound, Bound::memory);  // 60 operations a byte
  auto fp32 = work;
  fp32.arithmetic = Arithmetic::fp32;
  const auto same = classify(fp32, gpu("A100 SXM4 40GB"));
  EXPECT_EQ(same.bound, Bound::compute);
  EXPECT_THAT(same.reason, HasSubstr("60 operations a byte"));
}

TEST(Roofline, MeasuredActivityOverrulesCounting) {
  const Workload work{
      .flops_per_sample = 24e9, .bytes_per_sample = 0.4e9, .dram_active_share = 0.8, .tensor_active_share = 0.02};
  EXPECT_EQ(classify(work, gpu("A100 SXM4 40GB")).bound, Bound::memory);
  EXPECT_EQ(classify({.dram_active_share = 0.4, .sm_active_share = 0.9}, gpu("T4")).bound, Bound::compute);
}

TEST(Roofline, WaitingOverrulesWhatTheDeviceDoesMeanwhile) {
  const Workload input{.data_wait_share = 0.45, .comm_exposed_share = 0.1, .dram_active_share = 0.8};
  EXPECT_EQ(classify(input, gpu("T4")).bound, Bound::input);
  EXPECT_THAT(classify(input, gpu("T4")).reason, HasSubstr("45 % of a step waits for its batch"));
  EXPECT_EQ(classify({.data_wait_share = 0.1, .comm_exposed_share = 0.3}, gpu("T4")).bound, Bound::communication);
}

TEST(Roofline, WithoutFactsItSaysWhatWouldDecide) {
  const auto nothing = classify({}, gpu("T4"));
  EXPECT_EQ(nothing.bound, Bound::undecided);
  EXPECT_THAT(nothing.reason, HasSubstr("gradwatt run"));
}

TEST(Speedup, LiesBetweenNothingAndTheRoofline) {
  const Workload work{.arithmetic = Arithmetic::bf16, .dram_active_share = 0.4, .sm_active_share = 0.9};
  const auto gain = speedup(work, gpu("A100 SXM4 40GB"), gpu("H100 SXM5 80GB"));
  ASSERT_TRUE(gain);
  EXPECT_DOUBLE_EQ(gain->low, 1);
  EXPECT_NEAR(gain->high, 989.0 / 312, 1e-9);
  EXPECT_NEAR(gain->middle, std::sqrt(989.0 / 312), 1e-9);
}

TEST(Speedup, ContainsWhatWasPublishedOfFourCastNet) {
  const auto gain = speedup({.arithmetic = Arithmetic::tf32}, gpu("A100 SXM4 40GB"), gpu("H100 NVL"));
  ASSERT_TRUE(gain);
  for (const double less_time : {0.25, 0.30}) {
    EXPECT_GT(1 / (1 - less_time), gain->low);
    EXPECT_LT(1 / (1 - less_time), gain->high);
  }
}

TEST(Speedup, OfASlowerGpuIsALoss) {
  const auto gain = speedup({.dram_active_share = 0.9}, gpu("A100 SXM4 40GB"), gpu("A40"));
  ASSERT_TRUE(gain);
  EXPECT_NEAR(gain->low, 696.0 / 1555, 1e-9);
  EXPECT_DOUBLE_EQ(gain->high, 1);
}

TEST(Speedup, WaitingDoesNotGetFaster) {
  const auto gain = speedup({.data_wait_share = 0.5}, gpu("A100 SXM4 40GB"), gpu("H100 SXM5 80GB"));
  ASSERT_TRUE(gain);
  EXPECT_LT(gain->high, 2);
}

TEST(Speedup, IsNotGivenWithoutThePeaksThatItNeeds) {
  EXPECT_FALSE(speedup({.arithmetic = Arithmetic::bf16}, gpu("V100 SXM2 16GB"), gpu("A40")));
}

}  // namespace
}  // namespace gradwatt::planning
