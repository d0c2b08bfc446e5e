#include "gradwatt/training/data/example_random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

namespace gradwatt::training {
namespace {

TEST(ExampleRandom, GivesTheSameStreamForTheSameSeedEpochAndIndex) {
  auto a = example_random(1, 2, 3), b = example_random(1, 2, 3);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(a(), b());
}

TEST(ExampleRandom, GivesNeighbouringTriplesDifferentStreams) {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    for (std::uint64_t epoch = 0; epoch < 8; ++epoch) {
      for (std::uint64_t index = 0; index < 64; ++index) first.insert(example_random(seed, epoch, index)());
    }
  }
  EXPECT_EQ(first.size(), 8U * 8U * 64U);
}

TEST(ExampleRandom, FirstDrawsOfConsecutiveExamplesAreUniform) {
  // Augmentation takes only a few numbers of each stream, so the first ones must be good.
  constexpr int kExamples = 100'000;
  std::array<int, 10> bins{};
  for (int i = 0; i < kExamples; ++i) ++bins.at(example_random(7, 0, static_cast<std::uint64_t>(i)).below(10));
  double chi_squared = 0;
  for (const int n : bins) chi_squared += std::pow(n - kExamples / 10.0, 2) / (kExamples / 10.0);
  EXPECT_LT(chi_squared, 27.9);  // the 99.9 % quantile for 9 degrees of freedom
}

TEST(ExampleRandom, NormalDrawsHaveMeanZeroAndVarianceOne) {
  ExampleRandom random(5);
  double sum = 0, squares = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0.0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.02);
}

}  // namespace
}  // namespace gradwatt::training
