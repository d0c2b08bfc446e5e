// Times of a trace: microseconds as decimal text, to exact nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gradwatt::ingest::kineto {

/// No time of a trace lies further from zero, so that the sum of two (a base, a begin, a duration) cannot overflow. As
/// wall time: the year 2043, which rules out milliseconds and nanoseconds taken for microseconds as well.
inline constexpr std::int64_t kLatest = std::int64_t{1} << 61U;

/// "1623142623460111" or "4458676522690.655" (µs) in ns; further digits are dropped. A double would lose nanoseconds
/// of today's wall times. Nothing for anything else and beyond kLatest.
/// Chrome's format fixes the unit; "displayTimeUnit" only says what a viewer shows.
[[nodiscard]] std::optional<std::int64_t> parse_microseconds(std::string_view text);

}  // namespace gradwatt::ingest::kineto
