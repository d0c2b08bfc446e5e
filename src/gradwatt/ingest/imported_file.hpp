// What a reader of one foreign format hands on, whatever the format.
#pragma once

#include <cstdint>

#include "gradwatt/record/run.hpp"

namespace gradwatt::ingest {

/// What one file gave.
struct ImportedFile {
  record::Run run;         ///< where imported, clock wall
  std::uint64_t rows = 0;  ///< lines with readings that were used
};

}  // namespace gradwatt::ingest
