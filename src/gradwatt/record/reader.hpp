// From an open database to a Run; private to this folder.
#pragma once

#include <functional>

#include "gradwatt/core/result.hpp"
#include "gradwatt/record/sqlite.hpp"
#include "gradwatt/record/store.hpp"

namespace gradwatt::record {

/// Opens the same file again, for a thread of its own; empty where that cannot be (a database in memory).
using Reopen = std::function<core::Result<sqlite::Database>()>;

/// Large sample tables are read by several threads where `reopen` is given.
/// Errors: unusable_input when it is no record of ours or of a newer schema.
core::Result<Run> read_database(sqlite::Database& database, const LoadOptions& options, const Reopen& reopen = {});

}  // namespace gradwatt::record
