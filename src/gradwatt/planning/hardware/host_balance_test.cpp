#include "gradwatt/planning/hardware/host_balance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::planning {
namespace {

using testing::HasSubstr;

TEST(HostBalance, AWaitingRankNeedsTheWorkersOfARankThatDoesNot) {
  // 1 − 0.5 of each step waits: without it the rank takes 800 samples/s, eight workers of 100.
  const auto b = balance_host({.worker_samples_per_s = 100, .samples_per_s = 400, .workers = 4, .data_wait_share = 0.5},
                              {.cores = 76, .gpus = 4});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->workers, 8);
  EXPECT_EQ(b->cores_per_gpu, 10);
  EXPECT_FALSE(b->limited_to_samples_per_s);
  EXPECT_THAT(b->advice, HasSubstr("8 workers a GPU instead of 4"));
}

TEST(HostBalance, TheRateOfAWorkerComesFromItsBusyTime) {
  const auto b =
      balance_host({.workers_running_share = 0.25, .samples_per_s = 400, .workers = 8}, {.cores = 64, .gpus = 4});
  ASSERT_TRUE(b);
  EXPECT_DOUBLE_EQ(b->worker_samples_per_s, 200);
  EXPECT_EQ(b->workers, 2);
  EXPECT_THAT(b->advice, HasSubstr("2 workers a GPU suffice (8 run now)"));
  EXPECT_THAT(b->advice, HasSubstr("fewer cores save little"));
}

TEST(HostBalance, TooFewCoresBoundTheRate) {
  const auto b =
      balance_host({.worker_samples_per_s = 100, .samples_per_s = 300, .workers = 3, .data_wait_share = 0.625},
                   {.cores = 20, .gpus = 4});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->workers_here, 4);  // one core stays for the rank
  EXPECT_DOUBLE_EQ(*b->limited_to_samples_per_s, 400);
  EXPECT_THAT(b->advice, HasSubstr("at most 400 of 800 samples/s a GPU"));
}

TEST(HostBalance, SaysWhatIsMissing) {
  EXPECT_THAT(balance_host({.worker_samples_per_s = 9}, {.cores = 8}).error().message, HasSubstr("samples a second"));
  EXPECT_THAT(balance_host({.samples_per_s = 9, .workers = 4}, {.cores = 8}).error().message,
              HasSubstr("how fast one loader worker is"));
  EXPECT_THAT(balance_host({.worker_samples_per_s = 9, .samples_per_s = 9}, {}).error().message,
              HasSubstr("are no node"));
  EXPECT_THAT(
      balance_host({.worker_samples_per_s = 9, .samples_per_s = 9, .data_wait_share = 1}, {.cores = 8}).error().message,
      HasSubstr("between 0 and 1"));
}

}  // namespace
}  // namespace gradwatt::planning
