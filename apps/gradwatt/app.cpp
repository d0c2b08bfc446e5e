#include "app.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "commands/table.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::app {
namespace {

core::Result<int> dispatch(Context& context, Arguments arguments) {
  if (arguments.empty())
    return core::fail(core::Errc::wrong_use,
                      "no verb given; `gradwatt help` lists them, `gradwatt run -- CMD` measures");
  const auto& word = arguments.front();
  if (word == "--version" || word == "-V") {
    context.out << "gradwatt " GRADWATT_VERSION "\n";
    return 0;
  }
  const std::string_view verb = word == "--help" || word == "-h" ? "help" : std::string_view(word);
  const auto* command = find_command(verb);
  if (command != nullptr) return command->run(context, arguments.subspan(1));
  std::vector<std::string_view> names;
  for (const auto& row : commands()) names.push_back(row.name);
  const auto near = core::nearest(verb, names);
  return core::fail(core::Errc::wrong_use, fmt::format("unknown {} '{}'{} (`gradwatt help` lists all verbs)",
                                                       verb.starts_with('-') ? "option" : "verb", verb,
                                                       near ? fmt::format(", did you mean '{}'?", *near) : ""));
}

}  // namespace

int exit_status_of(core::Errc code) {
  switch (code) {
    case core::Errc::wrong_use:
      return 2;
    case core::Errc::unusable_input:
    case core::Errc::not_found:
      return 3;
    case core::Errc::not_permitted:
    case core::Errc::not_supported:
    case core::Errc::io:
    case core::Errc::timeout:
    case core::Errc::lost:
      return 4;
  }
  return 4;
}

int run_app(Context& context, Arguments arguments) {
  const auto status = dispatch(context, arguments);
  context.out.flush();
  if (!status) {
    complain(context, status.error().message);
    return exit_status_of(status.error().code);
  }
  if (!context.out) {
    complain(context, "the result could not be written to standard output; is the disk full or the pipe closed?");
    // A verb that passes a job's status on must not hide it behind ours.
    return *status != 0 ? *status : exit_status_of(core::Errc::io);
  }
  return *status;
}

}  // namespace gradwatt::app
