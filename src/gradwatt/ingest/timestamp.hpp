// Moments as people and tools write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gradwatt::ingest {

enum class TimeKind : std::uint8_t {
  utc,       ///< epoch number, or a date with its zone
  local,     ///< a date without a zone: read as if it were UTC
  clock,     ///< time of day without a date: since midnight
  relative,  ///< seconds since some begin
};

struct ParsedTime {
  std::int64_t ns = 0;  ///< since 1970-01-01 UTC, midnight or the begin, by kind
  TimeKind kind = TimeKind::utc;
  bool whole_seconds = false;  ///< written without a fraction
};

/// Unit of a bare number; `automatic` tells s, ms, µs and ns apart by size (epoch of 1973 to 2200) and takes numbers
/// below 1e8 as relative seconds.
enum class TimeUnit : std::uint8_t { automatic, s, ms, us, ns };

/// All of `text` as a moment, else nothing. Understands nvidia-smi's 2023/01/31 12:00:00.123, ISO 8601 with and without
/// zone, month names (Fri 21 Nov 2025 11:41:31 PM), day or month first where only one reading is possible, and numbers.
[[nodiscard]] std::optional<ParsedTime> parse_time(std::string_view text, TimeUnit unit = TimeUnit::automatic);

}  // namespace gradwatt::ingest
