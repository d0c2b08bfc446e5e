// Pieces of time as sorted lists without overlap, and what can be asked of them: union, common part, difference.
#pragma once

#include <cstdint>
#include <vector>

namespace gradwatt::ingest::kineto {

/// Half open: [begin, end).
struct Interval {
  std::int64_t begin_ns = 0, end_ns = 0;
  [[nodiscard]] std::int64_t length() const { return end_ns - begin_ns; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Sorted, not touching, none empty. Only the functions below make them.
using Intervals = std::vector<Interval>;

/// The union; gaps of at most `gap_ns` are closed.
[[nodiscard]] Intervals united(std::vector<Interval> pieces, std::int64_t gap_ns = 0);
[[nodiscard]] Intervals common(const Intervals& a, const Intervals& b);
/// What of `a` lies outside of `b`.
[[nodiscard]] Intervals without(const Intervals& a, const Intervals& b);
[[nodiscard]] std::int64_t total_ns(const Intervals& intervals);
/// How much of `window` the intervals cover.
[[nodiscard]] std::int64_t covered_ns(const Intervals& intervals, const Interval& window);

}  // namespace gradwatt::ingest::kineto
