// `--live`: where figures may be shown without garbling the job's own output, and how they look. Pure functions; who
// draws asks them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradwatt::launch {

/// What the process's streams are. Terminals are told apart by their device number.
struct Streams {
  std::optional<dev_t> controlling_terminal;
  std::optional<dev_t> standard_error;  ///< where it is a terminal
  std::vector<dev_t> job_output;        ///< terminals that the job writes to
  bool line_can_be_redrawn = true;      ///< false for TERM=dumb or none
};
/// Of this process, with a job that inherits (`command_runs`) or does not inherit its streams.
[[nodiscard]] Streams current_streams(bool command_runs);

enum class LiveOutput {
  redrawn_on_terminal,  ///< one line on /dev/tty, drawn over itself
  lines_on_stderr,      ///< a short line now and then, between the job's own
  lines_in_file,
};
/// A file where one was asked for. Else a redrawn line, only where there is a terminal that the job does not write to:
/// its output goes elsewhere, or it is not ours (`--pid`, `--node`). Else lines.
[[nodiscard]] LiveOutput choose_live_output(const Streams& streams, bool file_wanted);

struct LiveStatus {
  struct Component {
    std::string name;               ///< "GPU", "CPU", "RAM"
    std::optional<double> power_w;  ///< nothing: not known now
  };
  std::chrono::nanoseconds elapsed{0};
  std::vector<Component> components;
  std::optional<double> energy_kwh;
  std::optional<double> steps_per_s;
  std::optional<std::chrono::nanoseconds> time_left;
  std::vector<std::string> alerts;  ///< few words each: "GPU 3 throttled"
};

/// "12 min 05 s  GPU 1.24 kW  CPU 180 W  0.251 kWh  3.21 step/s  left 1 h 02 min  ! GPU 3 throttled", at most `width`
/// columns: what matters least is left out first, an alert is cut last. Unknown figures show as "–", absent ones not at
/// all.
[[nodiscard]] std::string format_live(const LiveStatus& status, std::size_t width);

/// What puts `line` over the former one on a terminal, and what takes it away before the report.
[[nodiscard]] std::string redraw(const std::string& line);
[[nodiscard]] std::string erase_line();

/// Columns that UTF-8 text takes (one a character).
[[nodiscard]] std::size_t columns(std::string_view text);

}  // namespace gradwatt::launch
