// What is special about power in a recording: units that cannot be true, limits, and what the reading means.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/sample_table.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::ingest {

/// Takes power series whose typical value no GPU can draw (milliwatts in a W column) out of the table, and single
/// readings that are glitches. Returns the sentence on the last series taken out; it is in `diagnostics` too.
/// `column_of` names the file's column of a metric.
std::optional<std::string> judge_power(SampleTable& table,
                                       const std::function<std::string(record::MetricId)>& column_of,
                                       std::size_t header_line, Diagnostics& diagnostics);

/// Most recordings hold only power.limit, the limit asked for. It bounds the one in force from above and is what a
/// reader compares power with, so it stands in where the enforced one is not there, marked as estimated.
void fill_enforced_limit(record::Run& run);

/// Duty, uncertainty and note of a power series. `plain`: it came from power.draw, whose meaning depends on the GPU.
void describe_power(record::SeriesQuality& quality, std::string_view gpu_name, bool plain);

}  // namespace gradwatt::ingest
