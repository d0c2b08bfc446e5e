#include "gradwatt/energy/steady_state.hpp"

#include <gmock/gmock.h>

#include <random>

#include "gradwatt/energy/change_points.hpp"

namespace gradwatt::energy {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

record::Run run_with_steps(const std::vector<double>& lengths_ms) {
  record::Run run;
  std::int64_t now = 0;
  for (const double length : lengths_ms) {
    record::Mark mark;
    mark.number = static_cast<std::int64_t>(run.marks.size());
    mark.begin_ns = now;
    now += static_cast<std::int64_t>(length * kMillisecond);
    mark.end_ns = now;
    run.marks.push_back(mark);
  }
  run.set(record::meta::kJobBegin, 0);
  run.set(record::meta::kJobEnd, now);
  return run;
}

std::vector<double> noisy(std::size_t count, double level, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> draw(level, noise);
  std::vector<double> out(count);
  for (double& value : out) value = draw(random);
  return out;
}

TEST(ChangePoints, ANoisyLevelIsOneSegment) {
  for (unsigned seed = 0; seed < 50; ++seed) EXPECT_EQ(segments_of(noisy(200, 10, 1, seed)).size(), 1) << seed;
}

TEST(ChangePoints, AStepOfLevelIsCutWhereItIs) {
  auto values = noisy(60, 10, 0.5, 1);
  const auto after = noisy(140, 12, 0.5, 2);
  values.insert(values.end(), after.begin(), after.end());
  const auto segments = segments_of(values);
  ASSERT_EQ(segments.size(), 2);
  EXPECT_NEAR(static_cast<double>(segments[1].begin), 60, 2);
  EXPECT_NEAR(segments[1].median, 12, 0.3);
}

TEST(ChangePoints, SingleOutliersCutNothing) {
  auto values = noisy(200, 10, 0.5, 3);
  for (std::size_t i = 20; i < 200; i += 40) values[i] = 30;
  EXPECT_EQ(segments_of(values).size(), 1);
}

TEST(ChangePoints, NothingComesOfNoValuesAndOneSegmentOfConstantOnes) {
  EXPECT_TRUE(segments_of({}).empty());
  EXPECT_EQ(segments_of(std::vector<double>(100, 3)).size(), 1);
  EXPECT_EQ(steady_segment({}).size(), 0);
}

TEST(SteadyPart, LeavesOutAStartThatTakesLonger) {
  auto lengths = noisy(30, 50, 1, 4);
  const auto even = noisy(300, 20, 0.5, 5);
  lengths.insert(lengths.end(), even.begin(), even.end());
  const auto run = run_with_steps(lengths);
  const auto steady = steady_part(run);
  ASSERT_TRUE(steady);
  EXPECT_NEAR(static_cast<double>(steady->window.begin_ns), static_cast<double>(run.marks[30].begin_ns),
              100.0 * kMillisecond);
  EXPECT_EQ(steady->window.end_ns, run.marks.back().end_ns);
}

TEST(SteadyPart, OfEvenStepsIsAllButTheFirstTwo) {
  const auto run = run_with_steps(noisy(100, 20, 0.5, 6));
  const auto steady = steady_part(run);
  ASSERT_TRUE(steady);
  EXPECT_EQ(steady->window.begin_ns, run.marks[2].begin_ns);
  EXPECT_EQ(steady->why, "steps 3 to 100 of 100");
}

TEST(SteadyPart, OfAnEmptyRunIsNothing) { EXPECT_FALSE(steady_part(record::Run{})); }

}  // namespace
}  // namespace gradwatt::energy
