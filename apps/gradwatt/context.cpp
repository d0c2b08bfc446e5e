#include "context.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "gradwatt/core/text.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace gradwatt::app {
namespace {

constexpr std::size_t kUsualColumns = 80;
/// Longer lines are harder to read than broken ones.
constexpr std::size_t kMostColumns = 110;

std::vector<std::pair<std::string, std::string>> read_environment() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (const char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40) return kUsualColumns;
  return std::min<std::size_t>(size.ws_col, kMostColumns);
}

/// By the locale's variables, the first that is set. Files are UTF-8 unless the user's locale is another one.
bool speaks_utf8(const Context& context, bool out_is_terminal) {
  for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const auto value = core::to_lower(context.variable(name));
    if (value.empty()) continue;
    if (value == "c" || value == "posix") break;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return !out_is_terminal;
}

}  // namespace

std::string Context::variable(std::string_view name) const {
  const auto found = std::ranges::find_if(environment, [&](const auto& v) { return v.first == name; });
  return found != environment.end() ? found->second : std::string();
}

Context context_of_process(core::Clock& clock) {
  std::error_code error;
  Context context{.in = std::cin,
                  .out = std::cout,
                  .err = std::cerr,
                  .in_is_terminal = ::isatty(STDIN_FILENO) == 1,
                  .screen = {},
                  .clock = clock,
                  .environment = read_environment(),
                  .working_folder = std::filesystem::current_path(error)};
  const bool out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  context.screen.width = out_is_terminal ? terminal_columns() : kUsualColumns;
  context.screen.utf8 = speaks_utf8(context, out_is_terminal);
  context.screen.color = out_is_terminal && context.variable("NO_COLOR").empty() && context.variable("TERM") != "dumb";
  return context;
}

void complain(Context& context, std::string_view sentence) {
  context.out.flush();
  context.err << "gradwatt: " << report::printable(sentence) << '\n';
}

}  // namespace gradwatt::app
