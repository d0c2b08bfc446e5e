// `gradwatt train [--ranks N] RECIPE …`: starts the trainer, measured as by `gradwatt run`.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <ostream>
#include <thread>

#include "beside.hpp"
#include "commands/table.hpp"

namespace gradwatt::app {
namespace {

struct Typed {
  std::string recipe, describe, out, name, format;
  std::vector<std::string> settings;
  int ranks = 1;
  bool resume = false, list_settings = false, quiet = false, json = false;
};

void declare(CLI::App& app, Typed& typed) {
  app.add_option("RECIPE", typed.recipe, "TOML file that says what to train and how (examples/recipes)");
  app.add_option("--set", typed.settings, "table.key=value, in place of what the recipe says; may be repeated")
      ->allow_extra_args(false);
  app.add_option("--ranks", typed.ranks,
                 "processes on this host, started with mpirun (under mpirun or srun: leave it out)");
  app.add_flag("--resume", typed.resume, "go on from the recipe's checkpoint file if it is there");
  app.add_option("--describe", typed.describe, "print layers, parameters and operations of a model");
  app.add_flag("--settings", typed.list_settings, "list all settings of a recipe");
  app.add_option("--out", typed.out, "run folder to make (default: a new folder in the run store)");
  app.add_option("--name", typed.name, "a name for the run, for later commands");
  app.add_flag("--quiet", typed.quiet, "no progress and no report");
  app.add_flag("--json", typed.json, "the report as JSON");
}

std::vector<std::string> launcher(int ranks) {
  if (ranks == 1) return {};
  std::vector<std::string> words{"mpirun", "--bind-to", "none"};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  if (ranks > static_cast<int>(std::thread::hardware_concurrency())) words.emplace_back("--oversubscribe");
  words.insert(words.end(), {"-n", std::to_string(ranks)});
  return words;
}

std::vector<std::string> trainer_words(const Typed& typed, const std::string& trainer) {
  std::vector<std::string> words{trainer};
  if (!typed.recipe.empty()) words.push_back(typed.recipe);
  for (const auto& setting : typed.settings) words.insert(words.end(), {"--set", setting});
  if (typed.resume) words.emplace_back("--resume");
  if (typed.quiet) words.emplace_back("--quiet");
  if (typed.list_settings) words.emplace_back("--settings");
  if (!typed.describe.empty()) words.insert(words.end(), {"--describe", typed.describe});
  return words;
}

/// Exit status of the trainer's look at the recipe: a mistake is one line, not a run with a report. 0 where it could
/// not be asked; the run then says what is wrong.
int check_recipe(std::vector<std::string> words, int ranks) {
  words.insert(words.end(), {"--check", std::to_string(ranks)});
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (::posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return 0;
  if (::waitpid(child, &status, 0) != child) return 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

core::Result<void> check(const Typed& typed) {
  if (typed.ranks < 1)
    return core::fail(core::Errc::wrong_use, fmt::format("train: --ranks wants at least 1, not {}", typed.ranks));
  if (typed.recipe.empty() && typed.describe.empty() && !typed.list_settings)
    return core::fail(core::Errc::wrong_use,
                      "train: no recipe given; write gradwatt train RECIPE.toml "
                      "(examples/recipes holds some)");
  std::error_code ignored;
  if (!typed.recipe.empty() && !std::filesystem::is_regular_file(typed.recipe, ignored))
    return core::fail(core::Errc::not_found, fmt::format("train: there is no recipe {}", typed.recipe));
  return {};
}

}  // namespace

core::Result<int> run_train(Context& context, Arguments arguments) {
  Options options(context, "train", "Trains a neural network data-parallel and reports what it cost.");
  Typed typed;
  declare(options.app(), typed);
  options.app().footer(
      "gradwatt train examples/recipes/fashion-quick.toml               one process\n"
      "gradwatt train --ranks 2 RECIPE --set batch.global=256           two processes on this host\n"
      "srun -n 8 gradwatt train RECIPE                                  below a launcher: one process a task\n"
      "gradwatt train --describe resnet50                               layers, parameters, operations");
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  if (auto good = check(typed); !good) return core::fail(good.error());
  const auto trainer = find_beside("gradwatt-train", "LibTorch and MPI are");
  if (!trainer) return core::fail(trainer.error());
  auto command = launcher(typed.ranks);
  const auto words = trainer_words(typed, *trainer);
  command.insert(command.end(), words.begin(), words.end());
  context.out.flush();
  // Measured already, or nothing to measure.
  if (typed.list_settings || !typed.describe.empty() || !context.variable("GRADWATT_MARKS").empty())
    return become(command);
  if (const int wrong = check_recipe(words, typed.ranks); wrong != 0) return wrong;
  std::vector<std::string> run;
  if (!typed.out.empty()) run.insert(run.end(), {"--out", typed.out});
  if (!typed.name.empty()) run.insert(run.end(), {"--name", typed.name});
  if (typed.quiet) run.emplace_back("--quiet");
  if (typed.json) run.emplace_back("--json");
  run.emplace_back("--");
  run.insert(run.end(), command.begin(), command.end());
  return run_run(context, run);
}

}  // namespace gradwatt::app
