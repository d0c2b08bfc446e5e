#include "gradwatt/energy/comparison.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "gradwatt/energy/bootstrap.hpp"

namespace gradwatt::energy {
namespace {

RunFigures run_of(double step_s, unsigned seed, std::size_t steps = 200, double noise = 0.05) {
  std::mt19937 random(seed);
  std::normal_distribution<double> draw(step_s, noise * step_s);
  RunFigures out;
  for (std::size_t i = 0; i < steps; ++i) out.step_s.push_back(draw(random));
  out.samples_per_step = 64;
  out.ranks = 2;
  return out;
}

/// Pairs A, B, A, B, … with B faster by `gain`; the machine drifts from pair to pair.
std::pair<std::vector<RunFigures>, std::vector<RunFigures>> pairs_of(std::size_t count, double gain, double cause_a,
                                                                     double cause_b) {
  std::pair<std::vector<RunFigures>, std::vector<RunFigures>> out;
  for (std::size_t i = 0; i < count; ++i) {
    const double drift = 1 + 0.2 * static_cast<double>(i);
    auto a = run_of(0.1 * drift, static_cast<unsigned>(2 * i)),
         b = run_of(0.1 * drift / (1 + gain), static_cast<unsigned>(2 * i + 1));
    a.begin_ns = static_cast<std::int64_t>(2 * i), b.begin_ns = static_cast<std::int64_t>(2 * i + 1);
    a.cause_metric = cause_a + 0.001 * static_cast<double>(i), b.cause_metric = cause_b;
    out.first.push_back(a), out.second.push_back(b);
  }
  return out;
}

Comparison compare_one(const RunFigures& a, const RunFigures& b) { return compare(std::span(&a, 1), std::span(&b, 1)); }

TEST(Comparison, OfOneRunEachIsLikelyAtMostAndSaysWhatItsIntervalLacks) {
  const auto result = compare_one(run_of(0.1, 1), run_of(0.05, 2));
  EXPECT_EQ(result.verdict, Verdict::likely);
  ASSERT_NE(result.speed(), nullptr);
  EXPECT_EQ(result.speed()->interval, IntervalOf::steps);
  EXPECT_NEAR(*result.speed()->change, 1.0, 0.05);
  EXPECT_THAT(result.reasons, testing::Contains(testing::HasSubstr("one run each")));
}

TEST(Comparison, OfEqualRunsShowsNoDifference) {
  int moved = 0;
  for (unsigned seed = 0; seed < 40; ++seed)
    moved += compare_one(run_of(0.1, 2 * seed), run_of(0.1, 2 * seed + 1)).verdict != Verdict::no_difference;
  EXPECT_LE(moved, 6);  // 5 % of 40, and chance
}

TEST(Comparison, StepsThatDriftAreNotTakenForIndependent) {
  auto a = run_of(0.1, 1), b = run_of(0.1, 2);
  for (std::size_t i = 0; i < a.step_s.size(); ++i) {
    a.step_s[i] *= 1 + 0.2 * std::sin(static_cast<double>(i) / 30);
    b.step_s[i] *= 1 + 0.2 * std::sin(static_cast<double>(i) / 30 + 2);
  }
  const auto drifting = *compare_one(a, b).speed(), calm = *compare_one(run_of(0.1, 1), run_of(0.1, 2)).speed();
  EXPECT_GT(*drifting.high - *drifting.low, 3 * (*calm.high - *calm.low));
}

TEST(Comparison, FewStepsAreCalledWeak) {
  const auto result = compare_one(run_of(0.1, 1, 6), run_of(0.05, 2, 6));
  EXPECT_THAT(result.reasons, testing::Contains(testing::HasSubstr("only 6 steps")));
}

TEST(Comparison, ThreePairsInTurnWhoseCauseMovedAreProvenInSpiteOfADriftingMachine) {
  const auto [a, b] = pairs_of(3, 0.1, 0.4, 0.02);
  const auto result = compare(a, b);
  EXPECT_EQ(result.verdict, Verdict::proven);
  EXPECT_EQ(result.pairs, 3);
  EXPECT_NEAR(*result.speed()->change, 0.1, 0.02);
  EXPECT_EQ(result.speed()->interval, IntervalOf::runs);
}

TEST(Comparison, WithoutTheCausesFigureMovingNothingIsProven) {
  const auto [a, b] = pairs_of(4, 0.1, 0.4, 0.4005);
  EXPECT_EQ(compare(a, b).verdict, Verdict::likely);
}

TEST(Comparison, TwoPairsProveNothing) {
  const auto [a, b] = pairs_of(2, 0.5, 0.4, 0.02);
  EXPECT_NE(compare(a, b).verdict, Verdict::proven);
}

TEST(Comparison, GroupsThatWereNotTakenInTurnProveNothing) {
  auto [a, b] = pairs_of(4, 0.5, 0.4, 0.02);
  for (std::size_t i = 0; i < a.size(); ++i) b[i].begin_ns = 100 + *b[i].begin_ns;
  const auto result = compare(a, b);
  EXPECT_EQ(result.pairs, 0);
  EXPECT_NE(result.verdict, Verdict::proven);
}

TEST(Comparison, WithoutStepsIsNotComparable) {
  const auto result = compare_one(RunFigures{}, run_of(0.1, 1));
  EXPECT_EQ(result.verdict, Verdict::not_comparable);
  EXPECT_FALSE(result.reasons.empty());
  for (const auto& metric : result.metrics) EXPECT_FALSE(metric.change) << metric.name;
}

TEST(Comparison, UnlikeRankCountsGiveTheEfficiencyAndWhatIsLost) {
  auto one = run_of(0.1, 1), four = run_of(0.125, 2);
  one.ranks = 1, one.samples_per_step = 32, one.local_batch = 32;
  four.ranks = 4, four.samples_per_step = 128, four.local_batch = 32;
  one.data_wait_s.assign(one.step_s.size(), 0.0);
  four.data_wait_s.assign(four.step_s.size(), 0.0125);
  const auto result = compare_one(one, four);
  ASSERT_TRUE(result.scaling);
  EXPECT_TRUE(result.scaling->weak);
  EXPECT_NEAR(result.scaling->efficiency, 0.8, 0.02);
  EXPECT_NEAR(*result.scaling->lost_input, 0.1, 0.01);
  EXPECT_NEAR(*result.scaling->lost_rest, 0.1, 0.02);
}

TEST(Bootstrap, StudentsTIsThatOfTheTables) {
  EXPECT_NEAR(student_t(1), 12.706, 1e-3);
  EXPECT_NEAR(student_t(4), 2.776, 1e-3);
  EXPECT_NEAR(student_t(30), 2.042, 1e-3);
  EXPECT_NEAR(student_t(60), 2.000, 2e-3);
  EXPECT_NEAR(student_t(120), 1.980, 2e-3);
  EXPECT_NEAR(student_t(2.5), 3.56, 0.15);
}

TEST(Bootstrap, TheIntervalOfAMeanHoldsTheTruthInNineteenOfTwentyDraws) {
  int held = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> draw(5, 2);
    std::vector<double> values(6);
    for (double& value : values) value = draw(random);
    const auto interval = mean_interval(values);
    held += interval->low <= 5 && 5 <= interval->high;
  }
  EXPECT_NEAR(held / 400.0, 0.95, 0.03);
}

TEST(Bootstrap, CorrelatedValuesCountForFewer) {
  std::mt19937 random(1);
  std::normal_distribution<double> draw(0, 1);
  std::vector<double> white(400), red(400);
  for (std::size_t i = 0; i < white.size(); ++i) {
    white[i] = draw(random);
    red[i] = (i > 0 ? 0.9 * red[i - 1] : 0) + draw(random);
  }
  EXPECT_LE(correlation_length(white), 3);
  EXPECT_GE(correlation_length(red), 10);  // (1 + 0.9) / (1 − 0.9) = 19
}

}  // namespace
}  // namespace gradwatt::energy
