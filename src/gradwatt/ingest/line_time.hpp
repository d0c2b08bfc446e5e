// The time of day that a line of a log begins with.
#pragma once

#include <optional>
#include <string_view>

#include "gradwatt/ingest/timestamp.hpp"

namespace gradwatt::ingest {

/// "2024-07-28 10:09:47.587117 …", "[2024-07-28 10:45:12,908] …", "DLL 2024-07-28 …", "2025-01-21T04:41:44,285060+00:00
/// …", "[Sun Feb 23 16:24:18 2025] …". Nothing when the line begins with something else, or its date lacks the year.
[[nodiscard]] std::optional<ParsedTime> line_time(std::string_view text);

}  // namespace gradwatt::ingest
