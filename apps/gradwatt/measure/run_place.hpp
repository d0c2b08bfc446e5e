// Where the record of a run goes. What the user asked for by name is refused before the job starts when it cannot be;
// the default place gives way, because a training must not fail for want of a folder of ours.
#pragma once

#include <filesystem>
#include <string>

#include "gradwatt/core/result.hpp"

namespace gradwatt::app {

struct RunPlace {
  std::filesystem::path folder;  ///< empty: the run is kept in memory and only reported
  std::filesystem::path file;    ///< the record of this host in it
  std::string note;              ///< one sentence when it is not where it would normally be
};

/// `--out`: made if missing. Errors: wrong_use with the reason (cannot be created, not writable, holds this host's
/// record already, unless `again`: then it gets a second one).
[[nodiscard]] core::Result<RunPlace> place_asked_for(const std::filesystem::path& folder, const std::string& host,
                                                     bool again);

/// `store`/`run_id`; else the same below `temporary`; else memory. Several hosts and later steps of one launcher's job
/// share the folder, so a host's second record gets a number.
[[nodiscard]] RunPlace place_by_default(const std::filesystem::path& store, const std::filesystem::path& temporary,
                                        const std::string& run_id, const std::string& host);

}  // namespace gradwatt::app
