// The plan of a recording and its end: what both ways of measuring share.
#pragma once

#include <optional>
#include <string>

#include "context.hpp"
#include "gradwatt/launch/identity.hpp"
#include "measure/live_line.hpp"
#include "measure/recorder.hpp"
#include "measure/run_request.hpp"

namespace gradwatt::app {

[[nodiscard]] std::string host_name();

/// Where the record goes, by the request. Errors: wrong_use for an unusable --out.
/// `again`: tasks of one launch may come one after the other, so an --out that holds this host's record gets another.
[[nodiscard]] core::Result<RunPlace> choose_place(const Context& context, const RunRequest& request,
                                                  const std::string& run_id, bool again);

/// Backends and sampling as the settings say, and what the record says about the run itself. `what` is "command",
/// "pid" or "node". Errors: wrong_use (unknown sensor source, unknown GPU), those of a --replay record.
[[nodiscard]] core::Result<Recorder::Plan> plan_recording(const RunRequest& request, const RunPlace& place,
                                                          const std::string& run_id, const launch::Identity& identity,
                                                          const std::string& what);

/// The status line of --live; nothing when it was not asked for. Error: wrong_use.
[[nodiscard]] core::Result<std::optional<LiveLine>> open_live_line(const Context& context, const RunRequest& request);

/// Says what went wrong, prints the report.
void conclude(Context& context, const RunRequest& request, const RunPlace& place, const Recorder::Finished& finished);

/// A driver or file system that hangs holds a thread: ends the process without waiting for it.
void leave_hanging_thread(Context& context, const Recorder::Finished& finished, int status);

}  // namespace gradwatt::app
