// Intervals: moving-block bootstrap of a ratio, and Student's t. The resampling is seeded, so that the same runs give
// the same interval.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace gradwatt::energy {

struct Interval {
  double low = 0, high = 0;
};

/// Steps until values are as good as independent: 1 + 2 Σ ρ_k up to the first ρ_k that is not positive (initial
/// positive sequence; Geyer 1992), at least 1 and at most a quarter of the values.
[[nodiscard]] std::size_t correlation_length(std::span<const double> values);

/// Places of one resample: blocks of `block` neighbours, as many as fill `size`.
[[nodiscard]] std::vector<std::size_t> block_resample(std::size_t size, std::size_t block, std::mt19937_64& random);

/// 2.5 % and 97.5 % of what `draw` gives; nothing when it gives nothing.
[[nodiscard]] std::optional<Interval> bootstrap(const std::function<std::optional<double>(std::mt19937_64&)>& draw,
                                                int draws = 1000);

/// 97.5 % quantile of Student's t with `freedom` degrees of freedom, to 0.1 % (Hill's expansion beyond a table of 30).
[[nodiscard]] double student_t(double freedom);

/// 95 % interval of the mean of `values` by Student's t. Nothing with fewer than two.
[[nodiscard]] std::optional<Interval> mean_interval(std::span<const double> values);
/// Of mean(b) − mean(a), sides independent (Welch). Nothing with fewer than two a side.
[[nodiscard]] std::optional<Interval> difference_interval(std::span<const double> a, std::span<const double> b);

}  // namespace gradwatt::energy
