// `gradwatt help [VERB]`
#include <fmt/format.h>

#include <ostream>

#include "commands/table.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::app {
namespace {

void list_verbs(Context& context) {
  context.out << "gradwatt shows where the watts of a training job go and what a sample costs.\n\n"
                 "usage: gradwatt VERB [options]\n\n";
  for (const auto& command : commands()) context.out << fmt::format("  {:<12} {}\n", command.name, command.help);
  context.out
      << "\nRUN, wherever a verb takes one, is a run folder, a record file (.db), the id or name of a kept run or\n"
         "the beginning of it, `last`, or a recording of another tool.\n"
         "`gradwatt help VERB` explains a verb; `gradwatt --version` prints the version.\n";
}

}  // namespace

core::Result<int> run_help(Context& context, Arguments arguments) {
  if (context.describe != nullptr) {
    for (const auto& command : commands()) context.describe->words.emplace_back(command.name);
    return 0;
  }
  if (arguments.empty()) {
    list_verbs(context);
    return 0;
  }
  std::vector<std::string_view> names;
  for (const auto& command : commands()) names.push_back(command.name);
  if (auto known = expect_one_of("verb", arguments.front(), names); !known) return core::fail(known.error());
  const std::vector<std::string> ask_for_help{"--help"};
  if (arguments.front() == "help") {
    list_verbs(context);
    return 0;
  }
  return find_command(arguments.front())->run(context, ask_for_help);
}

}  // namespace gradwatt::app
