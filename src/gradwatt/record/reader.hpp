// From an open database to a Run; private to this folder.
#pragma once

#include "gradwatt/core/result.hpp"
#include "gradwatt/record/sqlite.hpp"
#include "gradwatt/record/store.hpp"

namespace gradwatt::record {

/// Errors: unusable_input when it is no record of ours or of a newer schema.
core::Result<Run> read_database(sqlite::Database& database, const LoadOptions& options);

}  // namespace gradwatt::record
