// Which rank a trace is of: what it says itself, else its file name, else an assumption; and files of several ranks
// side by side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/kineto/trace.hpp"
#include "gradwatt/ingest/merge.hpp"

namespace gradwatt::ingest::kineto {

/// Keys of Run::meta that the parts of one import carry until they are merged.
inline constexpr std::string_view kFormatName = "kineto trace";
inline constexpr std::string_view kRankKey = "trace_rank";
inline constexpr std::string_view kRankOriginKey = "trace_rank_origin";

enum class RankOrigin : std::uint8_t {
  stated,     ///< distributedInfo
  file_name,  ///< "rank-3", "rank_3", "rank3" or "worker3" in it
  assumed,    ///< 0
};
[[nodiscard]] std::string_view name_of(RankOrigin origin);

struct RankOfFile {
  std::int64_t rank = 0;
  RankOrigin origin = RankOrigin::assumed;
};
[[nodiscard]] RankOfFile rank_of(const Trace& trace, std::string_view file);
/// Says in the notes where a rank is not the trace's own word.
void note_rank(const RankOfFile& rank, Diagnostics& notes);

/// Before a merge: traces with the same rank that did not state it get the next free ones. Two traces that state the
/// same rank (several profiling cycles of it) stay as they are, which is said.
void settle_ranks(std::vector<NamedRun>& parts, std::vector<Diagnostic>& diagnostics);

}  // namespace gradwatt::ingest::kineto
