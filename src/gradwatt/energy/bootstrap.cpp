#include "gradwatt/energy/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gradwatt::energy {
namespace {

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

/// Student's t, two-sided 95 %, 1 to 30 degrees of freedom (any table of the distribution).
constexpr std::array kStudent{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                              2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
                              2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double kNormal = 1.959964;

}  // namespace

std::size_t correlation_length(std::span<const double> values) {
  const auto n = values.size();
  if (n < 8) return 1;
  const double mean = mean_of(values);
  double variance = 0;
  for (const double value : values) variance += (value - mean) * (value - mean);
  if (variance <= 0) return 1;
  double length = 1;
  for (std::size_t lag = 1; lag < n / 4; ++lag) {
    double sum = 0;
    for (std::size_t i = lag; i < n; ++i) sum += (values[i] - mean) * (values[i - lag] - mean);
    if (sum <= 0) break;
    length += 2 * sum / variance;
  }
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(length)), 1, n / 4);
}

std::vector<std::size_t> block_resample(std::size_t size, std::size_t block, std::mt19937_64& random) {
  std::vector<std::size_t> places;
  places.reserve(size + block);
  std::uniform_int_distribution<std::size_t> first(0, size - block);
  while (places.size() < size)
    for (std::size_t begin = first(random), i = begin; i < begin + block; ++i) places.push_back(i);
  places.resize(size);
  return places;
}

std::optional<Interval> bootstrap(const std::function<std::optional<double>(std::mt19937_64&)>& draw, int draws) {
  constexpr std::uint64_t kSeed = 20240229;
  std::mt19937_64 random(kSeed);
  std::vector<double> values;
  for (int i = 0; i < draws; ++i)
    if (const auto value = draw(random); value && std::isfinite(*value)) values.push_back(*value);
  if (values.size() < static_cast<std::size_t>(draws) / 2) return std::nullopt;
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return Interval{at(0.025), at(0.975)};
}

double student_t(double freedom) {
  if (freedom <= static_cast<double>(kStudent.size())) {
    // Welch's degrees of freedom are no whole number; between two rows the reciprocal is close to straight.
    const auto low = std::max<std::size_t>(1, static_cast<std::size_t>(freedom));
    const double below = kStudent[low - 1];
    if (low >= kStudent.size()) return below;
    const double share = (1 / freedom - 1 / static_cast<double>(low)) /
                         (1 / static_cast<double>(low + 1) - 1 / static_cast<double>(low));
    return below + std::clamp(share, 0.0, 1.0) * (kStudent[low] - below);
  }
  const double z = kNormal;
  return z + (z * z * z + z) / (4 * freedom) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * freedom * freedom);
}

std::optional<Interval> mean_interval(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  const double half = student_t(n - 1) * std::sqrt(variance_of(values) / n), mean = mean_of(values);
  return Interval{mean - half, mean + half};
}

std::optional<Interval> difference_interval(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const auto na = static_cast<double>(a.size()), nb = static_cast<double>(b.size());
  const double va = variance_of(a) / na, vb = variance_of(b) / nb, difference = mean_of(b) - mean_of(a);
  if (va + vb <= 0) return Interval{difference, difference};
  const double freedom = (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1));
  const double half = student_t(freedom) * std::sqrt(va + vb);
  return Interval{difference - half, difference + half};
}

}  // namespace gradwatt::energy
