// How good the measurement itself was: one line of figures, and the cross-checks that did not agree.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/energy/summary.hpp"

namespace gradwatt::report {

/// "reading every 1.00 s · 11 220 ticks, 3 late · …"; empty when the run knows nothing of it.
[[nodiscard]] std::string quality_text(const record::Run& run);
/// One sentence each for counter and integrated power that disagree, with both figures.
[[nodiscard]] std::vector<std::string> cross_check_warnings(const record::Run& run, const energy::Summary& summary);

/// What the readings of all series add up to.
struct ReadingCounts {
  std::uint64_t readings = 0, failed = 0, corrected = 0, rejected = 0;
};
[[nodiscard]] ReadingCounts count_readings(const record::Run& run);
/// The sum of a fact over the hosts of the run; nothing when no host has it.
[[nodiscard]] std::optional<double> sum_of_fact(const record::Run& run, std::string_view name);

}  // namespace gradwatt::report
