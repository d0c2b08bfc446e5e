#include "gradwatt/planning/hardware/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::planning {
namespace {

using testing::HasSubstr;

const catalog::GpuRow* gpu(std::string_view name) { return catalog::find_gpu(name); }

PlacementAsk ask() {
  return {.measured = {gpu("A100 SXM4 40GB"), 1000, 330},
          .work = {.arithmetic = Arithmetic::bf16, .dram_active_share = 0.4, .sm_active_share = 0.9},
          .memory = memory_need({.parameters = 25e6, .activation_bytes_per_sample = 90e6}),
          .base_w_per_gpu = 66};
}

TEST(Placement, TheMeasuredGpuKeepsItsOwnFigures) {
  const std::vector gpus{gpu("A100 SXM4 40GB")};
  const auto placed = place(ask(), gpus);
  ASSERT_TRUE(placed);
  EXPECT_TRUE(placed->front().measured);
  EXPECT_DOUBLE_EQ(placed->front().energy_per_sample_j->middle, 0.396);
  EXPECT_DOUBLE_EQ(placed->front().energy_per_sample_j->low, placed->front().energy_per_sample_j->high);
}

TEST(Placement, EachLoserSaysWhy) {
  const std::vector gpus{gpu("V100 SXM2 16GB"), gpu("A40"), gpu("A100 SXM4 40GB"), gpu("H100 SXM5 80GB")};
  const auto placed = place(ask(), gpus);
  ASSERT_TRUE(placed);
  EXPECT_EQ((*placed)[0].gpu->name, "H100 SXM5 80GB");
  EXPECT_THAT((*placed)[0].verdict, HasSubstr("least energy"));
  EXPECT_THAT((*placed)[1].verdict, HasSubstr("the ranges overlap, so only a profile there decides"));
  EXPECT_EQ((*placed)[3].gpu->name, "V100 SXM2 16GB");
  EXPECT_THAT((*placed)[3].verdict, HasSubstr("bf16 peak is not in the table"));
}

TEST(Placement, AGpuWithTooLittleMemoryLosesByMemory) {
  auto large = ask();
  large.memory = memory_need({.parameters = 2e9, .optimizer = Optimizer::adam, .activation_bytes_per_sample = 1e9});
  const auto placed = place(large, std::vector{gpu("A10"), gpu("A100 SXM4 80GB")});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->front().gpu->name, "A100 SXM4 80GB");
  EXPECT_THAT(placed->back().verdict, HasSubstr("before its first sample"));
}

TEST(Placement, TheLocalBatchStaysWithinWhatConvergenceAllows) {
  auto limited = ask();
  limited.most_local_batch = 64;
  EXPECT_EQ(place(limited, std::vector{gpu("H100 NVL")})->front().batch->samples, 64);
}

TEST(Placement, AJobThatWaitsGainsLittleFromAFasterGpu) {
  auto waits = ask();
  waits.work.data_wait_share = 0.6;
  const auto placed = place(waits, std::vector{gpu("H100 SXM5 80GB"), gpu("A100 SXM4 40GB")});
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->front().gpu->name, "A100 SXM4 40GB") << "the H100 would draw more for little more speed";
}

TEST(Placement, NeedsARunAndACandidate) {
  EXPECT_THAT(place({}, std::vector{gpu("T4")}).error().message, HasSubstr("profile the job on any GPU first"));
  EXPECT_THAT(place(ask(), {}).error().message, HasSubstr("name at least one"));
}

}  // namespace
}  // namespace gradwatt::planning
