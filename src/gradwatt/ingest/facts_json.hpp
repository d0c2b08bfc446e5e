// Facts that somebody knows without a recording: a small JSON file, written by hand or by a script.
//
//   {"schema": "gradwatt.facts/1",
//    "facts": [{"name": "gpu.power_avg_w", "subject": "job", "value": 150, "unit": "W"}]}
//
// `name` is from the fact table (record/fact.cpp). `subject` may be left out where it is the job or the host, `unit`
// where the name ends in it. A number in another unit of the same kind is converted (mW, ms, GB/s, % of a pure number);
// a unit of something else is refused. `true` and `false` are 1 and 0. `how`, `coverage`, `time_ns` and `source` may
// stand beside; other keys are notes of the writer and not read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/imported_file.hpp"
#include "gradwatt/ingest/line_reader.hpp"
#include "gradwatt/record/fact.hpp"

namespace gradwatt::ingest {

/// A facts file holds what a person knows: larger ones are something else.
inline constexpr std::size_t kMaxFactsBytes = std::size_t{4} << 20U;

/// All facts of the file, in its order; at least one. `name` is the file's, for messages and sources. unusable_input:
/// the message begins with "line N: " and names the fact by its place in the list, counted from 1, and what to write.
[[nodiscard]] core::Result<std::vector<record::Fact>> read_facts(std::string_view text, const std::string& name);

/// The same as a format of `import`: a run of facts alone, without devices, samples or clock.
[[nodiscard]] core::Result<ImportedFile> read_facts_file(LineReader& lines, const std::string& name,
                                                         const ImportOptions& options, Diagnostics& diagnostics);
[[nodiscard]] bool may_be_facts(const LineReader& lines);

}  // namespace gradwatt::ingest
