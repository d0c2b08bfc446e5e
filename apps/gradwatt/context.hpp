// What a verb may touch of the process around it: streams, clock, environment, working folder. Tests hand in their own.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/report/screen.hpp"

namespace gradwatt::app {

/// What a verb takes, for completion: filled instead of doing anything, see Options::parse.
struct Description {
  std::vector<std::string> words;  ///< options and sub-verbs
  bool takes_run = false;
};

struct Context {
  std::istream& in;
  std::ostream& out;  ///< results
  std::ostream& err;  ///< errors, warnings, questions
  bool in_is_terminal = false;
  report::Screen::Options screen;  ///< of `out`
  core::Clock& clock;
  std::vector<std::pair<std::string, std::string>> environment;
  std::filesystem::path working_folder;
  Description* describe = nullptr;

  /// Empty when the variable is not set.
  [[nodiscard]] std::string variable(std::string_view name) const;
};

/// The real one of this process: terminal width, colours (none with NO_COLOR or a dumb terminal) and UTF-8 by the
/// locale.
[[nodiscard]] Context context_of_process(core::Clock& clock);

/// A line on `err`, without line breaks inside: "gradwatt: …".
void complain(Context& context, std::string_view sentence);

}  // namespace gradwatt::app
