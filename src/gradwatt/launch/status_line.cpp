#include "gradwatt/launch/status_line.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::launch {
namespace {

constexpr std::string_view kGap = "  ";

struct Piece {
  int rank;  ///< smaller stays longer
  std::string text;
};

std::optional<dev_t> terminal_of(int file) {
  struct stat status {};
  if (::isatty(file) == 0 || ::fstat(file, &status) != 0) return std::nullopt;
  return status.st_rdev;
}

/// Field 7 of proc(5) stat: /dev/tty itself does not say which terminal it stands for.
std::optional<dev_t> controlling_terminal() {
  const auto stat = core::FileTree().read("proc/self/stat");
  if (!stat) return std::nullopt;
  const auto fields = core::split_words(std::string_view(*stat).substr(stat->rfind(')') + 1));
  constexpr std::size_t kTerminal = 4;
  const auto number = fields.size() > kTerminal ? core::parse_int(fields[kTerminal]) : std::nullopt;
  if (!number || *number == 0) return std::nullopt;
  const auto bits = static_cast<unsigned>(*number);  // minor: bits 31–20 and 7–0; major: 15–8
  return makedev((bits >> 8U) & 0xffU, (bits & 0xffU) | ((bits >> 12U) & 0xfff00U));
}

/// The first `width` columns.
std::string cut(std::string_view text, std::size_t width) {
  std::size_t used = 0, end = 0;
  for (; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0U) != 0x80U;
    if (begins && used++ == width) break;
  }
  return std::string(text.substr(0, end));
}

/// Control characters would move the cursor.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return text;
}

std::vector<Piece> pieces_of(const LiveStatus& status) {
  std::vector<Piece> pieces{{0, core::format_duration(status.elapsed)}};
  int rank = 2;  // the first component, as a rule the GPUs, says more than energy and rate
  for (const auto& [name, power] : status.components) {
    pieces.push_back({rank, fmt::format("{} {}", name, power ? core::format_si(*power, "W") : "–")});
    rank = rank == 2 ? 6 : rank + 1;
  }
  if (status.energy_kwh) pieces.push_back({3, fmt::format("{:.3f} kWh", *status.energy_kwh)});
  if (status.steps_per_s) pieces.push_back({4, fmt::format("{:.3g} step/s", *status.steps_per_s)});
  if (status.time_left) pieces.push_back({5, "left " + core::format_duration(*status.time_left)});
  for (std::size_t i = 0; i < status.alerts.size(); ++i)
    pieces.push_back({i == 0 ? 1 : 20 + static_cast<int>(i), "! " + printable(status.alerts[i])});
  return pieces;
}

std::string joined(const std::vector<Piece>& pieces) {
  std::string line;
  for (const auto& piece : pieces) line += (line.empty() ? "" : std::string(kGap)) + piece.text;
  return line;
}

}  // namespace

Streams current_streams(bool command_runs) {
  Streams streams{.controlling_terminal = controlling_terminal(), .standard_error = terminal_of(STDERR_FILENO)};
  if (command_runs)
    for (const int file : {STDOUT_FILENO, STDERR_FILENO})
      if (const auto terminal = terminal_of(file)) streams.job_output.push_back(*terminal);
  const char* kind = std::getenv("TERM");
  streams.line_can_be_redrawn = kind != nullptr && *kind != '\0' && std::strcmp(kind, "dumb") != 0;
  return streams;
}

LiveOutput choose_live_output(const Streams& streams, bool file_wanted) {
  if (file_wanted) return LiveOutput::lines_in_file;
  const auto& terminal = streams.controlling_terminal;
  const bool shared = terminal && std::ranges::find(streams.job_output, *terminal) != streams.job_output.end();
  if (terminal && !shared && streams.line_can_be_redrawn) return LiveOutput::redrawn_on_terminal;
  return LiveOutput::lines_on_stderr;
}

std::string format_live(const LiveStatus& status, std::size_t width) {
  auto pieces = pieces_of(status);
  while (pieces.size() > 1 && columns(joined(pieces)) > width) {
    const auto least = std::ranges::max_element(pieces, {}, &Piece::rank);
    if (least->rank <= 1) break;  // elapsed and the first alert: cut rather than dropped
    pieces.erase(least);
  }
  return cut(joined(pieces), width);
}

std::string redraw(const std::string& line) { return "\r" + line + "\x1b[K"; }
std::string erase_line() { return "\r\x1b[K"; }

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

}  // namespace gradwatt::launch
