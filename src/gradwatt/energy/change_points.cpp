#include "gradwatt/energy/change_points.hpp"

#include <algorithm>
#include <cmath>

namespace gradwatt::energy {
namespace {

/// Prefix sums, so that the cost of any stretch is read off in constant time.
class Costs {
 public:
  explicit Costs(std::span<const double> values) : sum_(values.size() + 1), square_(values.size() + 1) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      sum_[i + 1] = sum_[i] + values[i];
      square_[i + 1] = square_[i] + values[i] * values[i];
    }
  }
  /// Squares around the mean of [begin, end).
  [[nodiscard]] double operator()(std::size_t begin, std::size_t end) const {
    const double sum = sum_[end] - sum_[begin];
    return square_[end] - square_[begin] - sum * sum / static_cast<double>(end - begin);
  }

 private:
  std::vector<double> sum_, square_;
};

/// Noise from neighbours: a change of level moves only one difference.
double noise_variance(std::span<const double> values) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < values.size(); ++i) differences.push_back(std::abs(values[i] - values[i - 1]));
  // Of normal noise the median absolute difference is 0.954 σ. The floor keeps an exactly constant series whole.
  const double sigma = median_of(std::move(differences)) / 0.954;
  const double scale = std::abs(median_of({values.begin(), values.end()}));
  return std::max(sigma * sigma, std::pow(1e-3 * scale, 2) + 1e-300);
}

/// Values that stand out among their neighbours are drawn in to 3 σ: a checkpoint is no new level.
std::vector<double> without_outliers(std::span<const double> values, double sigma) {
  constexpr std::size_t kSide = 3;
  std::vector<double> out(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto begin = i - std::min(i, kSide), end = std::min(values.size(), i + kSide + 1);
    const double middle = median_of(
        {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)});
    out[i] = std::clamp(values[i], middle - 3 * sigma, middle + 3 * sigma);
  }
  return out;
}

void cut(const Costs& cost, std::size_t begin, std::size_t end, std::size_t least, double penalty,
         std::vector<std::size_t>& cuts) {
  if (end - begin < 2 * least) return;
  const double whole = cost(begin, end);
  double best = 0;
  std::size_t where = 0;
  for (std::size_t i = begin + least; i + least <= end; ++i)
    if (const double gain = whole - cost(begin, i) - cost(i, end); gain > best) best = gain, where = i;
  if (best <= penalty) return;
  cut(cost, begin, where, least, penalty, cuts);
  cuts.push_back(where);
  cut(cost, where, end, least, penalty, cuts);
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

double percentile_of(std::vector<double> values, double share) {
  const auto place = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(place, 1, values.size()) - 1);
  std::ranges::nth_element(values, at);
  return *at;
}

std::vector<Segment> segments_of(std::span<const double> values, std::size_t least, double strictness) {
  if (values.empty()) return {};
  std::vector<std::size_t> cuts{0};
  if (values.size() >= 2 * least) {
    const double variance = noise_variance(values);
    const double penalty = strictness * 2 * std::log(static_cast<double>(values.size())) * variance;
    cut(Costs(without_outliers(values, std::sqrt(variance))), 0, values.size(), least, penalty, cuts);
  }
  cuts.push_back(values.size());
  std::vector<Segment> out;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const auto piece = values.subspan(cuts[i - 1], cuts[i] - cuts[i - 1]);
    out.push_back({cuts[i - 1], cuts[i], median_of({piece.begin(), piece.end()})});
  }
  return out;
}

Segment steady_segment(std::span<const double> values, std::span<const double> weights) {
  constexpr double kAlike = 0.1;
  const auto segments = segments_of(values);
  if (segments.empty()) return {};
  const auto weight = [&](const Segment& segment) {
    if (weights.empty()) return static_cast<double>(segment.size());
    double sum = 0;
    for (std::size_t i = segment.begin; i < segment.end; ++i) sum += weights[i];
    return sum;
  };
  const auto main = std::ranges::max_element(segments, {}, weight);
  const auto alike = [&](const Segment& other) {
    return std::abs(other.median - main->median) <= kAlike * std::abs(main->median);
  };
  auto first = main, last = main;
  while (first != segments.begin() && alike(*std::prev(first))) --first;
  while (std::next(last) != segments.end() && alike(*std::next(last))) ++last;
  return {first->begin, last->end, main->median};
}

}  // namespace gradwatt::energy
