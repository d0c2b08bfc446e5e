// What may stand in a batch script. Directives end at the first space or quote, and comments at the end of a line, so
// text of the user is checked before it is written there.
#pragma once

#include "gradwatt/planning/job_file/job_file.hpp"

namespace gradwatt::planning {

/// Nothing to return: every text and setting of the job can be written; else one sentence says which cannot.
[[nodiscard]] core::Result<void> check_texts(const JobFile& job);
/// Clock, cap, signal, and workers against the cores that a GPU has.
[[nodiscard]] core::Result<void> check_settings(const JobFile& job, const JobShape& shape);

}  // namespace gradwatt::planning
