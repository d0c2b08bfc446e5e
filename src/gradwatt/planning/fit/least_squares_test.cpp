#include "gradwatt/planning/fit/least_squares.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace gradwatt::planning {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// y = a + b x, the smallest model with two parameters.
struct Line {
  std::vector<double> x, y;

  [[nodiscard]] Problem problem(double a = 1, double b = 1, double spread = 3) const {
    return {{{"a", "s", a, spread}, {"b", "s", b, spread}},
            x.size(),
            [this](std::span<const double> p, std::span<double> r) {
              for (std::size_t i = 0; i < x.size(); ++i) r[i] = std::log((p[0] + p[1] * x[i]) / y[i]);
            },
            0.05};
  }
};
double at_ten(std::span<const double> p) { return p[0] + 10 * p[1]; }

TEST(LeastSquares, FindsTheParametersOfDataWithoutNoise) {
  const Line line{{1, 2, 3, 5, 8}, {5, 7, 9, 13, 19}};
  const auto found = fit(line.problem());
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->values[0], 3, 0.01);
  EXPECT_NEAR(found->values[1], 2, 0.01);
  EXPECT_THAT(found->unidentified, IsEmpty());
}

TEST(LeastSquares, WithoutDataIsThePriorAndSaysThatNothingIsIdentified) {
  const Line line;
  const auto found = fit(line.problem(4, 0.5, 0.7));
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->values[0], 4);
  EXPECT_THAT(found->unidentified, ElementsAre("a", "b"));
  EXPECT_GT(figure_of(*found, at_ten).high90 / figure_of(*found, at_ten).low90, 2);
}

TEST(LeastSquares, NamesTheParameterThatTheDataDoNotReach) {
  const Line line{{1e-6, 1e-6, 1e-6, 1e-6}, {3, 3.01, 2.99, 3}};
  const auto found = fit(line.problem());
  ASSERT_TRUE(found);
  EXPECT_THAT(found->unidentified, ElementsAre("b"));
  EXPECT_NEAR(found->values[0], 3, 0.05);
}

TEST(LeastSquares, AnOutlierOfTenHardlyMovesTheFit) {
  const Line line{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, {5, 7, 9, 11, 130, 15, 17, 19, 21, 23}};
  const auto found = fit(line.problem());
  ASSERT_TRUE(found);
  EXPECT_NEAR(at_ten(found->values), 23, 1.5);
}

TEST(LeastSquares, KeepsAParameterInsideItsBounds) {
  const Line line{{1, 2, 3, 5, 8}, {5, 7, 9, 13, 19}};
  auto problem = line.problem();
  problem.parameters[0].high = 2;
  const auto found = fit(problem);
  ASSERT_TRUE(found);
  EXPECT_LE(found->values[0], 2 + 1e-9);
}

TEST(LeastSquares, ItsIntervalWidensOutOfTheObservedRange) {
  const Line line{{1, 2, 3, 4}, {5.1, 6.9, 9.2, 10.9}};
  const auto found = fit(line.problem());
  ASSERT_TRUE(found);
  const auto near = [](std::span<const double> p) { return p[0] + 2 * p[1]; };
  const auto far = [](std::span<const double> p) { return p[0] + 200 * p[1]; };
  EXPECT_GT(spread_of(*found, far), 1.5 * spread_of(*found, near));
}

TEST(LeastSquares, NineTruthsInTenLieInTheInterval) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.05);
  int inside = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    Line line;
    for (const double x : {1.0, 2.0, 4.0, 1.0, 2.0, 4.0}) {
      line.x.push_back(x);
      line.y.push_back((3 + 2 * x) * std::exp(noise(random)));
    }
    const auto found = fit(line.problem());
    ASSERT_TRUE(found);
    const auto figure = figure_of(*found, at_ten);
    const double truth = 23 * std::exp(noise(random));
    inside += truth > figure.low90 && truth < figure.high90 ? 1 : 0;
  }
  EXPECT_GT(inside, 0.86 * kTrials);
  EXPECT_LT(inside, 0.96 * kTrials);
}

TEST(LeastSquares, RefusesAPriorOutsideItsBoundsAndObservationsThatAreNoNumbers) {
  Line line{{1, 2}, {5, 7}};
  auto problem = line.problem();
  problem.parameters[1].low = 5;
  const auto outside = fit(problem);
  ASSERT_FALSE(outside);
  EXPECT_THAT(outside.error().message, HasSubstr("parameter b"));
  line.y[0] = -1;
  const auto negative = fit(line.problem());
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().code, core::Errc::unusable_input);
  EXPECT_FALSE(fit({}));
}

TEST(StudentT90, AgreesWithTheTables) {
  EXPECT_NEAR(student_t90(1), 6.314, 0.01);
  EXPECT_NEAR(student_t90(2), 2.920, 0.01);
  EXPECT_NEAR(student_t90(4), 2.132, 0.01);
  EXPECT_NEAR(student_t90(10), 1.812, 0.002);
  EXPECT_NEAR(student_t90(1000), 1.646, 0.001);
}

}  // namespace
}  // namespace gradwatt::planning
