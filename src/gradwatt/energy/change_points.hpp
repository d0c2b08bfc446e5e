// Where a series changes its level for good: what parts start-up, steady work and drain.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace gradwatt::energy {

/// A stretch of equal level: indices [begin, end).
struct Segment {
  std::size_t begin = 0, end = 0;
  double median = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Parts `values` by binary segmentation: a cut stays where it lowers the sum of squares by more than
/// `strictness` · 2 ln n · σ², with σ from the median absolute difference of neighbours, so that single outliers and
/// slow drift cut nothing. No segment is shorter than `least`. One segment where nothing changes; none for no values.
[[nodiscard]] std::vector<Segment> segments_of(std::span<const double> values, std::size_t least = 8,
                                               double strictness = 3);

/// The stretch that the values spend most of their time in: the segment with the largest sum of `weights` (or count
/// where they are empty), joined with neighbours whose median differs by less than a tenth. Nothing for no values.
[[nodiscard]] Segment steady_segment(std::span<const double> values, std::span<const double> weights = {});

[[nodiscard]] double median_of(std::vector<double> values);
/// Smallest value at or above which the part 1 − `share` of all values lies. `values` is not empty.
[[nodiscard]] double percentile_of(std::vector<double> values, double share);

}  // namespace gradwatt::energy
