#include "gradwatt/training/data/sampler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace gradwatt::training {
namespace {

using testing::HasSubstr;

DistributedSampler sampler(SamplerSettings settings) { return DistributedSampler::make(settings).value(); }

std::vector<std::size_t> global_batch_of(SamplerSettings settings, std::uint64_t epoch, std::size_t batch) {
  std::vector<std::size_t> joined;
  for (settings.rank = 0; settings.rank < settings.ranks; ++settings.rank) {
    const auto plan = sampler(settings).plan(epoch).value();
    const auto& piece = plan.batches.at(batch);
    for (auto i = piece.begin; i < piece.end; ++i) joined.push_back(plan.indices[i]);
  }
  return joined;
}

TEST(DistributedSampler, GivesEveryExampleOnceOverAllRanksWhenSpreading) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    std::vector<std::size_t> seen;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto plan =
          sampler({.size = 103, .ranks = ranks, .rank = rank, .local_batch = 5, .remainder = Remainder::spread})
              .plan(3)
              .value();
      seen.insert(seen.end(), plan.indices.begin(), plan.indices.end());
    }
    std::sort(seen.begin(), seen.end());
    std::vector<std::size_t> all(103);
    std::iota(all.begin(), all.end(), std::size_t{0});
    EXPECT_EQ(seen, all) << ranks;
  }
}

TEST(DistributedSampler, DropsOnlyWhatDoesNotFillAGlobalBatch) {
  std::set<std::size_t> seen;
  std::size_t count = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const auto plan = sampler({.size = 103, .ranks = 3, .rank = rank, .local_batch = 5}).plan(0).value();
    EXPECT_EQ(plan.batches.size(), 6U);
    for (const auto& piece : plan.batches) EXPECT_EQ(piece.end - piece.begin, 5U);
    count += plan.indices.size();
    seen.insert(plan.indices.begin(), plan.indices.end());
  }
  EXPECT_EQ(count, 90U);
  EXPECT_EQ(seen.size(), 90U);
}

TEST(DistributedSampler, SplitsTheSameGlobalBatchesAmongAnyNumberOfRanks) {
  const auto one = global_batch_of({.size = 96, .ranks = 1, .local_batch = 12}, 5, 2);
  EXPECT_EQ(global_batch_of({.size = 96, .ranks = 2, .local_batch = 6}, 5, 2), one);
  EXPECT_EQ(global_batch_of({.size = 96, .ranks = 4, .local_batch = 3}, 5, 2), one);
}

TEST(DistributedSampler, DrawsAnotherOrderEachEpochAndTheSameForTheSameSeed) {
  const auto a = sampler({.size = 50, .seed = 1});
  EXPECT_EQ(a.order(0), sampler({.size = 50, .seed = 1}).order(0));
  EXPECT_NE(a.order(0), a.order(1));
  EXPECT_NE(a.order(0), sampler({.size = 50, .seed = 2}).order(0));
}

TEST(DistributedSampler, KeepsTheOrderOfTheDataSetWithoutShuffle) {
  const auto order = sampler({.size = 5, .shuffle = false}).order(9);
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(DistributedSampler, ResumesAtTheExactExample) {
  const auto s = sampler({.size = 100, .ranks = 2, .rank = 1, .local_batch = 5, .seed = 3});
  const auto whole = s.plan(4).value();
  const auto rest = s.plan(4, whole.batches[3].position_after).value();
  EXPECT_EQ(whole.batches[3].position_after, 40U);
  const std::vector<std::size_t> expected(whole.indices.begin() + 20, whole.indices.end());
  EXPECT_EQ(rest.indices, expected);
  EXPECT_EQ(rest.batches.back().position_after, 100U);
}

TEST(DistributedSampler, ResumesWithAnotherNumberOfRanksWithoutRepeatingAnExample) {
  std::vector<std::size_t> seen;
  for (int rank = 0; rank < 2; ++rank) {
    const auto plan = sampler({.size = 96, .ranks = 2, .rank = rank, .local_batch = 8}).plan(0).value();
    seen.insert(seen.end(), plan.indices.begin(), plan.indices.begin() + 24);  // three global batches: 48 examples
  }
  for (int rank = 0; rank < 3; ++rank) {
    const auto plan = sampler({.size = 96, .ranks = 3, .rank = rank, .local_batch = 4}).plan(0, 48).value();
    seen.insert(seen.end(), plan.indices.begin(), plan.indices.end());
  }
  EXPECT_EQ(seen.size(), 96U);
  EXPECT_EQ(std::set<std::size_t>(seen.begin(), seen.end()).size(), 96U);
}

TEST(DistributedSampler, UsesAsManyExamplesAsTheRanksBringWhenTheDataSetGrows) {
  for (const int ranks : {1, 2, 4}) {
    const auto s = sampler({.size = 100, .ranks = ranks, .local_batch = 5, .samples_per_rank = 20});
    EXPECT_EQ(s.used(), 20U * static_cast<std::size_t>(ranks));
    EXPECT_EQ(s.batches_per_epoch(), 4U);
    const auto order = s.order(0);
    EXPECT_LT(*std::max_element(order.begin(), order.end()), s.used());
  }
}

TEST(DistributedSampler, GivesARankNoEmptyBatch) {
  const auto plan =
      sampler({.size = 5, .ranks = 4, .rank = 0, .local_batch = 1, .remainder = Remainder::spread}).plan(0).value();
  EXPECT_EQ(plan.batches.size(), 1U);  // the fifth example is another rank's
}

TEST(DistributedSampler, SaysWhatIsWrong) {
  const auto message = [](SamplerSettings settings) { return DistributedSampler::make(settings).error().message; };
  EXPECT_THAT(message({.size = 10, .ranks = 2, .rank = 2}), HasSubstr("rank 2 is not one of 2"));
  EXPECT_THAT(message({.size = 10, .local_batch = 0}), HasSubstr("at least one"));
  EXPECT_THAT(message({.size = 10, .ranks = 2, .local_batch = 8}), HasSubstr("do not fill one global batch of 16"));
  EXPECT_THAT(message({.size = 10, .ranks = 2, .samples_per_rank = 6}), HasSubstr("has only 10"));
  EXPECT_THAT(sampler({.size = 10}).plan(0, 11).error().message, HasSubstr("another data set"));
}

}  // namespace
}  // namespace gradwatt::training
