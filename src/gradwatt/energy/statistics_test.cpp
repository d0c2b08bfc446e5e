#include "gradwatt/energy/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "gradwatt/energy/scripted_run.hpp"

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;
using scripted::at;
using scripted::ScriptedRun;

constexpr auto kPower = metric(DeviceKind::gpu, "power_avg");

/// The plain way: sort, then walk.
std::int64_t by_sorting(std::vector<std::pair<std::int64_t, double>> pairs, double share) {
  std::ranges::sort(pairs);
  double total = 0;
  for (const auto& pair : pairs) total += pair.second;
  double sum = 0;
  for (const auto& [value, weight] : pairs) {
    sum += weight;
    if (weight > 0 && sum >= share * total) return value;
  }
  return pairs.back().first;
}

TEST(Statistics, PercentilesAgreeWithSortingForAnyRangeOfValues) {
  std::mt19937_64 rng(11);
  for (const auto range : std::vector<std::int64_t>{1, 90, 5'000, 700'000, 4'000'000'000}) {
    std::vector<std::int64_t> values;
    std::vector<double> weights;
    std::vector<std::pair<std::int64_t, double>> pairs;
    for (int i = 0; i < 999; ++i) {
      values.push_back(static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(range)) - range / 2);
      weights.push_back(static_cast<double>(rng() % 5));
      pairs.emplace_back(values.back(), weights.back());
    }
    const auto found = weighted_percentiles(values, weights, {0.05, 0.5, 0.95});
    ASSERT_TRUE(found);
    EXPECT_EQ((*found)[0], by_sorting(pairs, 0.05)) << range;
    EXPECT_EQ((*found)[1], by_sorting(pairs, 0.5)) << range;
    EXPECT_EQ((*found)[2], by_sorting(pairs, 0.95)) << range;
  }
}

TEST(Statistics, NoWeightMeansNoPercentile) {
  const std::vector<std::int64_t> values{1, 2};
  const std::vector<double> weights{0, 0};
  EXPECT_FALSE(weighted_percentiles(values, weights, {0.05, 0.5, 0.95}));
}

TEST(Statistics, ReadingsCountByTheTimeTheyStood) {
  ScriptedRun script(12);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.readings(gpu, kPower, {{0, 100}, {0.5, 100}, {1, 100}, {1.5, 100}, {2, 100}, {5, 400}, {8, 400}, {11, 400}});
  script.quality(gpu, kPower);
  const auto out = statistics_of(*open_series(script.run, gpu, kPower), job_window(script.run).value());
  ASSERT_TRUE(out);
  EXPECT_NEAR(out->mean, (200 + 750 + 2400) / 11.0, 1e-9);
  EXPECT_EQ(out->min, 100);
  EXPECT_EQ(out->max, 400);
  EXPECT_EQ(out->p50, 400);
  EXPECT_NEAR(out->covered_s, 11, 1e-9);
}

TEST(Statistics, ReadingsOutsideTheWindowAreNoExtremes) {
  ScriptedRun script(2);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.readings(gpu, kPower, {{-0.5, 900}, {0.5, 100}, {1.5, 200}, {2.5, 5}});
  script.quality(gpu, kPower);
  const auto out = statistics_of(*open_series(script.run, gpu, kPower), job_window(script.run).value());
  EXPECT_EQ(out->min, 100);
  EXPECT_EQ(out->max, 200);
}

TEST(Statistics, ASeriesWithoutCoveredTimeHasNone) {
  ScriptedRun script(2);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.readings(gpu, kPower, {{50, 900}, {51, 900}});
  script.quality(gpu, kPower);
  EXPECT_FALSE(statistics_of(*open_series(script.run, gpu, kPower), job_window(script.run).value()));
}

}  // namespace
}  // namespace gradwatt::energy
