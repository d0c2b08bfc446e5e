#include "gradwatt/planning/hardware/memory_need.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::planning {
namespace {

using testing::HasSubstr;

const catalog::GpuRow& gpu(std::string_view name) { return *catalog::find_gpu(name); }

TEST(MemoryNeed, CountsBytesAParameterByOptimizerAndPrecision) {
  struct Case {
    Optimizer optimizer;
    Precision precision;
    double bytes_a_parameter;
  };
  // weights + gradients (+ half copy) + state; master copy in the state of half precision
  for (const auto& c :
       {Case{Optimizer::sgd, Precision::fp32, 4 + 4}, Case{Optimizer::sgd_momentum, Precision::fp32, 4 + 4 + 4},
        Case{Optimizer::adam, Precision::fp32, 4 + 4 + 8}, Case{Optimizer::adam, Precision::autocast, 4 + 4 + 2 + 8},
        Case{Optimizer::adam, Precision::half, 2 + 2 + 4 + 8}}) {
    const auto need =
        memory_need({.parameters = 1e9, .optimizer = c.optimizer, .precision = c.precision, .gradient_buckets = false});
    EXPECT_DOUBLE_EQ(need.fixed_bytes() - need.reserve_bytes, c.bytes_a_parameter * 1e9);
  }
}

TEST(MemoryNeed, BucketsAreOneMoreCopyOfTheGradients) {
  const auto with = memory_need({.parameters = 1e9, .gradient_buckets = true});
  const auto without = memory_need({.parameters = 1e9, .gradient_buckets = false});
  EXPECT_DOUBLE_EQ(with.fixed_bytes() - without.fixed_bytes(), 4e9);
}

TEST(MemoryNeed, CheckpointsKeepTwiceTheRootOfTheLayersForAThirdMoreWork) {
  const auto need = memory_need({.parameters = 1e6, .activation_bytes_per_sample = 1e9, .checkpointed_layers = 64});
  EXPECT_DOUBLE_EQ(*need.per_sample_bytes, 0.25e9);
  EXPECT_DOUBLE_EQ(need.recompute_share, 1.0 / 3);
  EXPECT_DOUBLE_EQ(*memory_need({.activation_bytes_per_sample = 8, .checkpointed_layers = 2}).per_sample_bytes, 8);
}

TEST(LocalBatch, IsTheLargestThatFits) {
  const auto need = memory_need({.parameters = 0, .activation_bytes_per_sample = 100e6});
  const auto most = largest_local_batch(need, gpu("A100 SXM4 40GB"));
  ASSERT_TRUE(most);
  EXPECT_EQ(most->samples, 365);  // (40 · 0.95 − 1.5) GB / 0.1 GB
  EXPECT_LE(most->used_bytes, most->usable_bytes);
  EXPECT_GT(most->used_bytes + 100e6, most->usable_bytes);
  EXPECT_EQ(largest_local_batch(need, gpu("A100 SXM4 40GB"), 64)->samples, 320);
}

TEST(LocalBatch, GrowsMoreThanMemoryDoes) {
  // The fixed part is paid once: with 94 instead of 40 GB the batch grows by more than 2.35.
  const auto need =
      memory_need({.parameters = 1.2e9, .optimizer = Optimizer::adam, .activation_bytes_per_sample = 2.5e9});
  const auto small = largest_local_batch(need, gpu("A100 SXM4 40GB"));
  const auto large = largest_local_batch(need, gpu("H100 NVL"));
  ASSERT_TRUE(small && large);
  EXPECT_GT(large->samples, 2.35 * small->samples);
}

TEST(LocalBatch, AModelThatDoesNotFitSaysOverHowManyGpusItWould) {
  const auto need = memory_need({.parameters = 7e9,
                                 .optimizer = Optimizer::adam,
                                 .precision = Precision::autocast,
                                 .activation_bytes_per_sample = 1e9});
  const auto most = largest_local_batch(need, gpu("A100 SXM4 40GB"));
  ASSERT_FALSE(most);
  EXPECT_THAT(most.error().message, HasSubstr("needs 155.5 GB before its first sample"));
  EXPECT_THAT(most.error().message, HasSubstr("cut it over 5 GPUs or more"));
  const auto cut = memory_need({.parameters = 7e9,
                                .optimizer = Optimizer::adam,
                                .precision = Precision::autocast,
                                .activation_bytes_per_sample = 1e9,
                                .shards = 5});
  EXPECT_TRUE(largest_local_batch(cut, gpu("A100 SXM4 40GB")));
}

TEST(LocalBatch, WithoutRoomForOneSampleNamesActivations) {
  const auto most = largest_local_batch(memory_need({.activation_bytes_per_sample = 90e9}), gpu("H100 SXM5 80GB"));
  ASSERT_FALSE(most);
  EXPECT_THAT(most.error().message, HasSubstr("1 sample needs 90.0 GB of activations"));
}

TEST(LocalBatch, WhatIsNotKnownIsAskedFor) {
  EXPECT_THAT(largest_local_batch(memory_need({.parameters = 1e6}), gpu("T4")).error().message,
              HasSubstr("profile one run at two local batches"));
  EXPECT_THAT(largest_local_batch(memory_need({.activation_bytes_per_sample = 1}), {.name = "X9"}).error().message,
              HasSubstr("memory of X9 is not known"));
}

TEST(Activations, ComeFromTheSlopeOfTwoPeaks) {
  const std::vector<PeakMemory> peaks{{32, 6e9}, {64, 9.2e9}};
  EXPECT_NEAR(*activations_from(peaks, {}), 100e6, 1);
}

TEST(Activations, OfOnePeakAreWhatTheReplicaDoesNotExplain) {
  const auto need = memory_need({.parameters = 25e6});
  EXPECT_NEAR(*activations_from(std::vector<PeakMemory>{{10, need.fixed_bytes() + 1e9}}, need), 1e8, 1);
}

TEST(Activations, PeaksThatDoNotGrowSayNothing) {
  EXPECT_FALSE(activations_from(std::vector<PeakMemory>{{32, 9e9}, {64, 9e9}}, {}));
  EXPECT_FALSE(activations_from(std::vector<PeakMemory>{{32, 0.1e9}}, {}));
  EXPECT_FALSE(activations_from({}, {}));
}

TEST(Optimizers, AreKnownByTheNamesOfRecipes) {
  EXPECT_EQ(optimizer_from("adamw"), Optimizer::adam);
  EXPECT_EQ(optimizer_from("lars"), Optimizer::lars);
  EXPECT_FALSE(optimizer_from("lion"));
}

}  // namespace
}  // namespace gradwatt::planning
