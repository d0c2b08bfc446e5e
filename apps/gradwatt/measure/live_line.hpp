// `run --live`: one status line, redrawn where it cannot garble the job's own output, else a short line now and then on
// stderr or in a file. Drawn by the recorder's housekeeping thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/launch/status_line.hpp"
#include "measure/recorder.hpp"

namespace gradwatt::app {

class LiveLine {
 public:
  struct Options {
    std::filesystem::path file;                       ///< empty: terminal or stderr
    core::Duration every = std::chrono::seconds(10);  ///< between lines that are not redrawn
    bool command_runs = true;
    std::optional<std::int64_t> total_steps;
  };
  /// Error: wrong_use when the file cannot be written.
  static core::Result<LiveLine> open(const Options& options, core::Instant begin);
  LiveLine(LiveLine&& other) noexcept;
  LiveLine& operator=(LiveLine&&) = delete;
  /// Takes a redrawn line away.
  ~LiveLine();

  /// Call once a second.
  void draw(const Recorder& recorder, core::Instant now);

 private:
  LiveLine(Options options, core::Instant begin) : options_(std::move(options)), begin_(begin), last_(begin) {}
  [[nodiscard]] launch::LiveStatus status(const Recorder& recorder, core::Instant now);

  Options options_;
  core::Instant begin_, last_;
  std::optional<core::Instant> last_line_;
  launch::LiveOutput output_ = launch::LiveOutput::lines_on_stderr;
  int descriptor_ = -1;
  bool owns_descriptor_ = false;
  double energy_j_ = 0;  ///< mean power of each second summed: for the eye, the report counts exactly
};

}  // namespace gradwatt::app
