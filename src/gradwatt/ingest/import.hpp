// Foreign recordings into one run: tells formats apart by content, reads each file, puts them on one clock.
//
//   auto imported = import_files(files, {});
//   if (!imported) … imported.error().message      // names file, line and reason
//   for (const auto& d : imported->diagnostics) … format(d)
//
// A new format is one reader in this folder and one row of the table in import.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::ingest {

struct Imported {
  record::Run run;                      ///< where imported, clock wall; not written anywhere
  std::vector<Diagnostic> diagnostics;  ///< by file, in the order given
  std::uint64_t rows = 0;               ///< lines of readings used, over all files
};

/// Reads all files into one run. Errors: wrong_use (no file), not_found, not_permitted, io, unusable_input: the first
/// file that gives nothing refuses the whole, because a report that silently lacks a file is wrong.
[[nodiscard]] core::Result<Imported> import_files(std::span<const std::filesystem::path> files,
                                                  const ImportOptions& options = {});
/// The same for one text that is in memory; `name` stands for the file in messages.
[[nodiscard]] core::Result<Imported> import_text(const std::string& name, std::string text,
                                                 const ImportOptions& options = {});

/// The formats that can be read, for messages and help: "nvidia-smi query CSV, …".
[[nodiscard]] std::string readable_formats();

}  // namespace gradwatt::ingest
