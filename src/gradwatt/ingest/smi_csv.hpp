// nvidia-smi query files (`nvidia-smi --query-gpu=… --format=csv`) in all the shapes that people have of them, and the
// CSV that people's own monitoring scripts write.
//
// With and without header, units and time; repeated headers; one or many GPUs, a row or a column each; other text
// before, between and behind (lines of other nvidia-smi tables, error messages). What is not understood is reported
// with its line, the rest is kept: nothing is guessed into a number.
#pragma once

#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/imported_file.hpp"
#include "gradwatt/ingest/line_reader.hpp"

namespace gradwatt::ingest {

/// `name` is the file's, for messages. unusable_input when no row can be used: the message begins with "line N: " or
/// says what is wrong with the whole.
[[nodiscard]] core::Result<ImportedFile> read_smi_csv(LineReader& lines, const std::string& name,
                                                      const ImportOptions& options, Diagnostics& diagnostics);

/// Could this be such a file? By its first bytes only.
[[nodiscard]] bool may_be_text(const LineReader& lines);

}  // namespace gradwatt::ingest
