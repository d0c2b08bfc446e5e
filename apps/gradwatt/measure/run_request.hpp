// What the user asked `gradwatt run` to do, checked.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "context.hpp"
#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/core/settings.hpp"
#include "options.hpp"

namespace gradwatt::app {

struct RunRequest {
  std::vector<std::string> command;  ///< empty with --pid and --node
  std::optional<pid_t> pid;
  bool whole_node = false;
  std::optional<core::Duration> length;  ///< --for
  std::filesystem::path out;             ///< empty: the run store
  std::string name;
  std::string against;              ///< a run on fewer GPUs to hold this one against
  std::string baseline;             ///< name of a baseline to hold this run against
  std::filesystem::path live_file;  ///< status lines go there
  std::optional<std::string> gpus;  ///< --gpus, as CUDA_VISIBLE_DEVICES would be written
  std::filesystem::path replay;     ///< serve this record as the machine's sensors
  bool json = false, quiet = false, drill_down = false;
  core::Settings settings;
};

/// --live or --live-file.
[[nodiscard]] bool wants_live(const RunRequest& request);

/// Nothing when help was printed. Errors: wrong_use with the one line that says how it is written.
[[nodiscard]] core::Result<std::optional<RunRequest>> parse_run_request(Context& context, Arguments arguments);

}  // namespace gradwatt::app
