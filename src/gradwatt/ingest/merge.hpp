// Several imported recordings as one run on one clock.
#pragma once

#include <string>
#include <vector>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::ingest {

struct NamedRun {
  std::string name;  ///< file, for messages and as host of unnamed devices
  record::Run run;
};

/// One run of all parts; at least one. Devices are the same where UUIDs are equal, or where index and host are equal
/// and the recordings do not overlap (a log that was rotated); otherwise they stay apart. Says in `diagnostics` what
/// was joined, and when recordings do not overlap in time or their zones differ.
[[nodiscard]] record::Run merge(std::vector<NamedRun> parts, std::vector<Diagnostic>& diagnostics);

}  // namespace gradwatt::ingest
