// The trainer: one process a rank. `gradwatt train` starts it below `gradwatt run`; started directly, by mpirun or
// srun, it measures itself.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/loop/recipe.hpp"
#include "gradwatt/training/loop/trainer.hpp"
#include "gradwatt/training/models/model.hpp"
#include "own_measurement.hpp"
#include "progress_line.hpp"
#include "step_times_file.hpp"
#include "tables.hpp"

namespace {

using namespace gradwatt;

struct Request {
  std::string recipe;
  std::vector<std::string> settings;
  std::string describe, step_times, out, name;
  std::vector<std::string> command;  // as typed
  bool resume = false, list_settings = false, quiet = false;
  int check_for_ranks = 0;
};

int exit_status_of(core::Errc code) {
  if (code == core::Errc::wrong_use) return 2;
  return code == core::Errc::unusable_input || code == core::Errc::not_found ? 3 : 4;
}

int complain(const core::Error& error) {
  fmt::print(stderr, "gradwatt train: {}\n", error.message);
  return exit_status_of(error.code);
}

/// What can be known to be wrong before any rank is started. The message and its exit status are the answer.
int check(const training::Recipe& recipe, int ranks) {
  if (const auto batch = training::micro_batch(recipe, ranks); !batch) return complain(batch.error());
  if (const auto spec = training::complete_spec(recipe.model); !spec) return complain(spec.error());
  return 0;
}

/// Where the last checkpoint lies, for who ends early.
std::string last_words(const std::filesystem::path& checkpoint) {
  if (checkpoint.empty()) return "no checkpoint was kept (checkpoint.file)";
  const bool there = ::access(checkpoint.c_str(), R_OK) == 0;
  return there ? "go on with --resume from " + checkpoint.string() : "no checkpoint had been written yet";
}

core::Result<std::unique_ptr<training::Trainer>> set_up(const Request& request, const training::Recipe& recipe,
                                                        training::Communicator& ranks, app::OwnMeasurement& measurement,
                                                        std::function<void(const training::Progress&)> show) {
  if (auto begun = measurement.begin(ranks); !begun) return core::fail(begun.error());
  auto trainer = training::Trainer::create(
      recipe, ranks, {.resume = request.resume, .marks_folder = measurement.marks_folder(), .show = std::move(show)});
  if (trainer) measurement.keep();
  return trainer;
}

/// All ranks come here with the same recipe. What one of several cannot do it tells the others, and all end.
int train(const Request& request, const training::Recipe& recipe) {
  app::OwnMeasurement measurement({.command = request.command, .out = request.out, .name = request.name});
  training::Communicator::Options options;
  options.last_words = [&] { return last_words(recipe.checkpoint); };
  options.before_end = [&] { measurement.end_early(); };
  auto made = training::Communicator::create(options);
  if (!made) return complain(made.error());
  auto& ranks = **made;
  const bool first = ranks.rank() == 0, alone = ranks.size() == 1;
  app::ProgressLine line(request.quiet);
  app::StepTimesFile times(first ? request.step_times : "");
  const auto show = [&](const training::Progress& progress) {
    line.show(progress);
    times.add(progress);
  };
  auto trainer = set_up(request, recipe, ranks, measurement, show);
  if (!trainer && alone) return complain(trainer.error());
  if (!trainer) ranks.fail(trainer.error().message);
  if (first && !request.quiet) app::print_plan(recipe, ranks.size());
  const auto outcome = (*trainer)->run();
  line.end();
  if (!outcome && alone) {
    fmt::print(stderr, "gradwatt train: {}; {}\n", outcome.error().message, options.last_words());
    return training::kFailedRank;
  }
  if (!outcome) ranks.fail(outcome.error().message);
  trainer->reset();
  const auto cost = measurement.end(ranks);
  if (first) app::print_outcome(*outcome, ranks.size(), cost, measurement.record_folder());
  ranks.close();
  made->reset();
  if (measurement.left_thread_behind()) {
    std::fflush(nullptr);
    std::_Exit(0);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  request.command.assign(argv, argv + argc);
  CLI::App app{"Trains a neural network data-parallel, one process a rank.", "gradwatt train"};
  app.add_option("RECIPE", request.recipe, "TOML file that says what to train and how (examples/recipes)");
  app.add_option("--set", request.settings, "table.key=value, in place of what the recipe says")
      ->allow_extra_args(false);
  app.add_option("--describe", request.describe, "print layers, parameters and operations of a model, then end");
  app.add_flag("--settings", request.list_settings, "list all settings of a recipe, then end");
  app.add_flag("--resume", request.resume, "go on from checkpoint.file if it is there");
  app.add_option("--check", request.check_for_ranks, "say what is wrong with the recipe for so many ranks, then end");
  app.add_option("--step-times", request.step_times, "write rank 0's phase times of each update to this CSV file");
  app.add_option("--out", request.out, "run folder to make (default: a new folder in the run store)");
  app.add_option("--name", request.name, "a name for the run, for later commands");
  app.add_flag("--quiet", request.quiet, "no progress line");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "gradwatt train: {}\n", error.what());
    return 2;
  }
  if (request.list_settings) return app::print_settings();
  if (!request.describe.empty()) {
    const auto done = app::print_description(request.describe, request.settings);
    return done ? 0 : complain(done.error());
  }
  if (request.recipe.empty())
    return complain(
        {core::Errc::wrong_use, "no recipe given; `gradwatt train examples/recipes/fashion-quick.toml` is one"});
  const auto recipe = training::load_recipe(request.recipe, request.settings);
  if (!recipe) return complain(recipe.error());
  return request.check_for_ranks > 0 ? check(*recipe, request.check_for_ranks) : train(request, *recipe);
}
