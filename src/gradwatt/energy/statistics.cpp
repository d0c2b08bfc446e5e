#include "gradwatt/energy/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;

constexpr std::array kLevels{
    metric(DeviceKind::gpu, "power_avg"),
    metric(DeviceKind::gpu, "power_inst"),
    metric(DeviceKind::gpu, "utilization"),
    metric(DeviceKind::gpu, "sm_active"),
    metric(DeviceKind::gpu, "tensor_active"),
    metric(DeviceKind::gpu, "dram_active"),
    metric(DeviceKind::gpu, "sm_clock"),
    metric(DeviceKind::gpu, "temperature"),
    metric(DeviceKind::gpu, "memory_used"),
    metric(DeviceKind::gpu, "power_limit_enforced"),
    metric(DeviceKind::cpu, "power"),
    metric(DeviceKind::cpu, "utilization"),
    metric(DeviceKind::cpu, "temperature"),
    metric(DeviceKind::dram, "power"),
    metric(DeviceKind::node, "cpu_utilization"),
    metric(DeviceKind::node, "iowait"),
    metric(DeviceKind::node, "memory_used"),
    metric(DeviceKind::node, "power"),
    metric(DeviceKind::job, "memory"),
};

/// Few enough to stay in the first-level cache, many enough that one bucket holds a small part of the readings.
constexpr std::size_t kBuckets = 4096;

struct Range {
  std::int64_t low = 0;
  int shift = 0;  ///< bucket = (value − low) >> shift

  [[nodiscard]] std::size_t bucket(std::int64_t value) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(value - low) >> static_cast<unsigned>(shift));
  }
};

Range range_of(std::span<const std::int64_t> values, std::span<const double> weights) {
  std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (weights[i] <= 0) continue;
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  Range out{low, 0};
  while (low <= high && out.bucket(high) >= kBuckets) ++out.shift;
  return out;
}

/// The value inside one bucket at which the weight that is still `wanted` is reached.
std::int64_t find_inside(std::span<const std::int64_t> values, std::span<const double> weights, const Range& range,
                         std::size_t bucket, double wanted) {
  std::vector<std::pair<std::int64_t, double>> members;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (weights[i] > 0 && range.bucket(values[i]) == bucket) members.emplace_back(values[i], weights[i]);
  std::ranges::sort(members);
  double sum = 0;
  for (const auto& [value, weight] : members) {
    sum += weight;
    if (sum >= wanted) return value;
  }
  return members.back().first;
}

std::span<const std::int64_t> held_values(const Series& level, const Holding& holding) {
  return level.readings.values().subspan(holding.first, holding.weight_ns.size());
}

double mean_of(std::span<const std::int64_t> values, const Holding& holding) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += holding.weight_ns[i] * static_cast<double>(values[i]);
  return sum / holding.covered_ns;
}

/// Smallest and largest reading that was taken inside the window. One outside carries weight only through the line
/// that crosses the window's edge: it is no extreme of the window.
std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>> extremes_inside(
    const Series& level, Window window, std::span<const std::int64_t> values, const Holding& holding) {
  const auto t = level.readings.time_ns().subspan(holding.first, values.size());
  const auto begin = static_cast<std::size_t>(std::ranges::lower_bound(t, window.begin_ns) - t.begin());
  const auto end = static_cast<std::size_t>(std::ranges::upper_bound(t, window.end_ns) - t.begin());
  std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
  for (auto i = begin; i < end; ++i) {
    if (holding.weight_ns[i] <= 0) continue;
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  if (low > high) return {};
  return {low, high};
}

}  // namespace

std::optional<std::array<std::int64_t, 3>> weighted_percentiles(std::span<const std::int64_t> values,
                                                                std::span<const double> weights,
                                                                std::array<double, 3> shares) {
  const auto range = range_of(values, weights);
  std::array<double, kBuckets> buckets{};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (weights[i] > 0) buckets[range.bucket(values[i])] += weights[i];
  const double total = std::accumulate(buckets.begin(), buckets.end(), 0.0);
  if (total <= 0) return std::nullopt;

  std::array<std::int64_t, 3> out{};
  for (std::size_t k = 0; k < shares.size(); ++k) {
    // Sums of weights differ in their last digits by the order of adding.
    const double wanted = shares[k] * total * (1 - 1e-12);
    double below = 0;
    std::size_t bucket = 0;
    std::size_t last_filled = 0;
    for (; bucket < kBuckets; ++bucket) {
      if (buckets[bucket] <= 0) continue;
      last_filled = bucket;
      if (below + buckets[bucket] >= wanted) break;
      below += buckets[bucket];
    }
    if (bucket == kBuckets) {
      bucket = last_filled;
      below -= buckets[bucket];
    }
    out[k] = range.shift == 0 ? range.low + static_cast<std::int64_t>(bucket)
                              : find_inside(values, weights, range, bucket, wanted - below);
  }
  return out;
}

std::optional<Statistics> statistics_of(const Series& level, Window window) {
  return statistics_of(level, window, hold(level, window));
}

std::optional<Statistics> statistics_of(const Series& level, Window window, const Holding& holding) {
  if (holding.covered_ns <= 0) return std::nullopt;
  const auto values = held_values(level, holding);
  const auto percentiles = weighted_percentiles(values, holding.weight_ns, {0.05, 0.5, 0.95});
  if (!percentiles) return std::nullopt;

  const double step = level.step();
  const auto in_unit = [&](std::int64_t stored) { return static_cast<double>(stored) * step; };
  Statistics out{.device = level.device, .metric = level.metric};
  out.mean = mean_of(values, holding) * step;
  const auto [low, high] = extremes_inside(level, window, values, holding);
  out.min = low ? in_unit(*low) : out.mean;
  out.max = high ? in_unit(*high) : out.mean;
  out.p5 = in_unit((*percentiles)[0]);
  out.p50 = in_unit((*percentiles)[1]);
  out.p95 = in_unit((*percentiles)[2]);
  out.covered_s = holding.covered_s();
  return out;
}

std::optional<double> deviation_of(const Series& level, const Holding& holding) {
  if (holding.covered_ns <= 0) return std::nullopt;
  const auto values = held_values(level, holding);
  const double mean = mean_of(values, holding);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double off = static_cast<double>(values[i]) - mean;
    sum += holding.weight_ns[i] * off * off;
  }
  return std::sqrt(sum / holding.covered_ns) * level.step();
}

std::span<const record::MetricId> levels_of_interest() { return kLevels; }

std::vector<Statistics> all_statistics(const record::Run& run, Window window) {
  std::vector<Statistics> out;
  for (const auto& samples : run.series) {
    SharedHolding shared(window);
    for (const auto id : kLevels) {
      if (record::info(id).kind != run.device(samples.device).kind) continue;
      const auto level = open_series(run, samples.device, id);
      if (!level) continue;
      if (auto figures = statistics_of(*level, window, shared.of(*level))) out.push_back(*figures);
    }
  }
  return out;
}

}  // namespace gradwatt::energy
