// `gradwatt completion bash` prints a small script; it asks `gradwatt completion words …` for the words that fit, so
// verbs, options and run ids are never written down twice.
#include <fmt/format.h>

#include <array>
#include <ostream>

#include "commands/table.hpp"
#include "run_ref.hpp"
#include "run_store.hpp"

namespace gradwatt::app {
namespace {

constexpr std::string_view kBashScript =
    R"script(# bash completion for gradwatt; load it with: source <(gradwatt completion bash)
_gradwatt() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "$(gradwatt completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" \
                       -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _gradwatt gradwatt
)script";

void put_run_words(const Context& context, std::vector<std::string>& words) {
  const auto settings = core::Settings::load(core::usual_sources(context.environment, context.working_folder));
  if (!settings) return;
  const auto folder = store_folder(*settings);
  if (!folder) return;
  words.emplace_back("last");
  for (const auto& entry : RunStore(*folder).entries()) {
    words.push_back(entry.id);
    if (entry.name) words.push_back(*entry.name);
  }
}

/// Words for the last of `typed`, which may be empty. After `--` the words are the user's command.
std::vector<std::string> words_for(Context& context, Arguments typed) {
  std::vector<std::string> words;
  if (typed.size() <= 1) {
    for (const auto& command : commands()) words.emplace_back(command.name);
    return words;
  }
  const auto* command = find_command(typed.front());
  for (const auto& word : typed.first(typed.size() - 1))
    if (word == "--") return words;
  if (command == nullptr) return words;
  Description description;
  context.describe = &description;
  const auto described = command->run(context, {});
  context.describe = nullptr;
  if (!described) return words;
  const bool wants_option = typed.back().starts_with('-');
  for (const auto& word : description.words)
    if (word.starts_with('-') == wants_option) words.push_back(word);
  if (description.takes_run && !wants_option) put_run_words(context, words);
  return words;
}

}  // namespace

core::Result<int> run_completion(Context& context, Arguments arguments) {
  if (!arguments.empty() && arguments.front() == "words" && context.describe == nullptr) {
    for (const auto& word : words_for(context, arguments.subspan(1))) context.out << word << '\n';
    return 0;
  }
  Options options(context, "completion",
                  "Prints the completion script for a shell: source <(gradwatt completion bash)");
  std::string shell;
  options.app().add_option("SHELL", shell, "bash")->type_name("")->required();
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  constexpr std::array<std::string_view, 1> kShells{"bash"};
  if (auto known = expect_one_of("shell", shell, kShells); !known) return core::fail(known.error());
  context.out << kBashScript;
  return 0;
}

}  // namespace gradwatt::app
