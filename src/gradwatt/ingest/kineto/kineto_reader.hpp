// Traces of the PyTorch profiler (Kineto), plain or gzip: one rank a file.
//
// The text streams through a window of some hundred KiB; of the events, only compact rows stay in memory. Facts are
// computed from all events, marks are the profiler's steps, spans a thinned picture.
#pragma once

#include <cstdint>
#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/imported_file.hpp"
#include "gradwatt/ingest/kineto/trace.hpp"
#include "gradwatt/ingest/line_reader.hpp"

namespace gradwatt::ingest::kineto {

/// JSON that has a trace's sections near its begin.
[[nodiscard]] bool may_be_trace(const LineReader& file);

/// The whole file as rows, launches connected. `memory_limit`: bytes that the rows may take.
/// Errors (unusable_input, "line 1: …"): no JSON, no trace, no event with a duration, an inflation that no trace
/// reaches. A trace that breaks off or passes the limit is kept up to there, and a note says so.
[[nodiscard]] core::Result<Trace> read_trace(ByteSource& bytes, Diagnostics& notes, std::uint64_t memory_limit);
/// A quarter of what the host has available now: the analysis needs about as much again, and a vector that grows too.
[[nodiscard]] std::uint64_t default_memory_limit();

/// The reader for the table of formats.
[[nodiscard]] core::Result<ImportedFile> read_kineto(LineReader& file, const std::string& name,
                                                     const ImportOptions& options, Diagnostics& notes);

}  // namespace gradwatt::ingest::kineto
