// Stretches of time on the samples' clock, and the job's own stretch, over which every total counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "gradwatt/record/run.hpp"

namespace gradwatt::energy {

inline constexpr double kSecondsPerNanosecond = 1e-9;

struct Window {
  std::int64_t begin_ns = 0, end_ns = 0;

  [[nodiscard]] std::int64_t length_ns() const { return std::max<std::int64_t>(0, end_ns - begin_ns); }
  [[nodiscard]] double seconds() const { return static_cast<double>(length_ns()) * kSecondsPerNanosecond; }
  [[nodiscard]] bool empty() const { return end_ns <= begin_ns; }
  auto operator<=>(const Window&) const = default;
};

/// The part that both share; empty when they share none.
[[nodiscard]] inline Window overlap(Window a, Window b) {
  return {std::max(a.begin_ns, b.begin_ns), std::min(a.end_ns, b.end_ns)};
}

/// From the job's begin to its end (or the last sample of an incomplete run). Nothing in an empty run.
[[nodiscard]] inline std::optional<Window> job_window(const record::Run& run) {
  const auto extent = run.extent();
  if (!extent) return std::nullopt;
  return Window{extent->begin_ns, extent->end_ns};
}

[[nodiscard]] inline double total_seconds(const std::vector<Window>& pieces) {
  double sum = 0;
  for (const auto& piece : pieces) sum += piece.seconds();
  return sum;
}

}  // namespace gradwatt::energy
