// The steps of each rank in a window, in order, and the times in them as seconds.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/energy/window.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::energy {

using RankSteps = std::map<std::int32_t, std::vector<const record::Mark*>>;

[[nodiscard]] inline RankSteps steps_in(const record::Run& run, Window window) {
  RankSteps out;
  for (const auto& mark : run.marks)
    if (mark.kind == record::MarkKind::step && mark.begin_ns >= window.begin_ns && mark.end_ns <= window.end_ns &&
        mark.end_ns > mark.begin_ns)
      out[mark.rank].push_back(&mark);
  for (auto& [rank, steps] : out) std::ranges::sort(steps, {}, &record::Mark::begin_ns);
  return out;
}

[[nodiscard]] inline double seconds_of(const record::Mark& mark) {
  return static_cast<double>(mark.end_ns - mark.begin_ns) * kSecondsPerNanosecond;
}

[[nodiscard]] inline std::optional<double> phase_s(const record::Mark& mark, record::Phase phase) {
  const auto& ns = mark.phase_ns[static_cast<std::size_t>(phase)];
  return ns ? std::optional(static_cast<double>(*ns) * kSecondsPerNanosecond) : std::nullopt;
}

[[nodiscard]] inline std::string rank_name(std::int32_t rank) { return "rank " + std::to_string(rank); }

}  // namespace gradwatt::energy
