// How good the measurement itself was, in one line of figures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/record/run.hpp"

namespace gradwatt::report {

/// "reading every 1.00 s · 11 220 ticks, 3 late · …"; empty when the run knows nothing of it.
[[nodiscard]] std::string quality_text(const record::Run& run);

/// What the readings of all series add up to.
struct ReadingCounts {
  std::uint64_t readings = 0, failed = 0, corrected = 0, rejected = 0;
};
[[nodiscard]] ReadingCounts count_readings(const record::Run& run);
/// The sum of a fact over the hosts of the run; nothing when no host has it.
[[nodiscard]] std::optional<double> sum_of_fact(const record::Run& run, std::string_view name);

}  // namespace gradwatt::report
