// The middle of a list of figures: one slow step, one late rank does not move it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace gradwatt::ingest {

/// The value that `share` of the values lie below or at, 0.5 for the median; the upper one of two. `values` is not
/// empty.
[[nodiscard]] inline double quantile(std::vector<double> values, double share) {
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(place, values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}
[[nodiscard]] inline double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

}  // namespace gradwatt::ingest
