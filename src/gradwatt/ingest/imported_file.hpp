// What a reader of one foreign format hands on, whatever the format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gradwatt/record/run.hpp"

namespace gradwatt::ingest {

/// What one file gave.
struct ImportedFile {
  record::Run run;         ///< where imported, clock wall
  std::uint64_t rows = 0;  ///< lines with readings that were used
};

/// Writes into the run's meta what every import says of itself: where, clock, file, format, rows. What is known of the
/// file's times is the reader's to add.
void describe(ImportedFile& file, const std::string& name, std::string_view format);

}  // namespace gradwatt::ingest
