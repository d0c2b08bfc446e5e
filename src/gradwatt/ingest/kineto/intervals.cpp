#include "gradwatt/ingest/kineto/intervals.hpp"

#include <algorithm>

namespace gradwatt::ingest::kineto {

Intervals united(std::vector<Interval> pieces, std::int64_t gap_ns) {
  std::erase_if(pieces, [](const Interval& piece) { return piece.length() <= 0; });
  std::ranges::sort(pieces, {}, &Interval::begin_ns);
  Intervals all;
  for (const auto& piece : pieces) {
    if (!all.empty() && piece.begin_ns - all.back().end_ns <= gap_ns) {
      all.back().end_ns = std::max(all.back().end_ns, piece.end_ns);
    } else {
      all.push_back(piece);
    }
  }
  return all;
}

Intervals common(const Intervals& a, const Intervals& b) {
  Intervals both;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Interval piece{std::max(a[i].begin_ns, b[j].begin_ns), std::min(a[i].end_ns, b[j].end_ns)};
    if (piece.length() > 0) both.push_back(piece);
    (a[i].end_ns < b[j].end_ns ? i : j) += 1;
  }
  return both;
}

Intervals without(const Intervals& a, const Intervals& b) {
  Intervals rest;
  std::size_t j = 0;
  for (auto piece : a) {
    while (j < b.size() && b[j].end_ns <= piece.begin_ns) ++j;
    for (auto k = j; k < b.size() && b[k].begin_ns < piece.end_ns; ++k) {
      if (b[k].begin_ns > piece.begin_ns) rest.push_back({piece.begin_ns, b[k].begin_ns});
      piece.begin_ns = b[k].end_ns;
    }
    if (piece.length() > 0) rest.push_back(piece);
  }
  return rest;
}

std::int64_t total_ns(const Intervals& intervals) {
  std::int64_t total = 0;
  for (const auto& interval : intervals) total += interval.length();
  return total;
}

std::int64_t covered_ns(const Intervals& intervals, const Interval& window) {
  std::int64_t covered = 0;
  auto piece = std::ranges::upper_bound(intervals, window.begin_ns, {}, &Interval::end_ns);
  for (; piece != intervals.end() && piece->begin_ns < window.end_ns; ++piece)
    covered += std::min(piece->end_ns, window.end_ns) - std::max(piece->begin_ns, window.begin_ns);
  return covered;
}

}  // namespace gradwatt::ingest::kineto
