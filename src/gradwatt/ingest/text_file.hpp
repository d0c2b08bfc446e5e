// Text of any kind: query files of nvidia-smi, and logs that hold whatever evidence their lines are.
//
// A file that begins as a query file is read as one alone. In any other, each kind of evidence (witnesses in
// text_file.cpp) picks its lines, and query tables between them are read too.
#pragma once

#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/imported_file.hpp"
#include "gradwatt/ingest/line_reader.hpp"

namespace gradwatt::ingest {

/// rows: lines that were understood. Says in `diagnostics` how many of which kind, and how many of none.
/// unusable_input where not one line is understood: the message begins with "line N: ".
[[nodiscard]] core::Result<ImportedFile> read_text(LineReader& lines, const std::string& name,
                                                   const ImportOptions& options, Diagnostics& diagnostics);

/// Kinds of evidence, for help: "NCCL log, nccl-tests, …".
[[nodiscard]] std::string kinds_of_text();

}  // namespace gradwatt::ingest
