// The trainer: one process a rank. `gradwatt train` starts it, measured; under mpirun or srun it is started once a
// rank.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/loop/recipe.hpp"
#include "gradwatt/training/loop/trainer.hpp"
#include "gradwatt/training/models/model.hpp"
#include "progress_line.hpp"
#include "step_times_file.hpp"
#include "tables.hpp"

namespace {

using namespace gradwatt;

struct Request {
  std::string recipe;
  std::vector<std::string> settings;
  std::string describe, step_times;
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

/// All ranks come here with the same recipe.
int train(const Request& request, const training::Recipe& recipe) {
  const auto checkpoint = recipe.checkpoint;
  training::Communicator::Options options;
  options.last_words = [checkpoint]() -> std::string {
    if (checkpoint.empty()) return "no checkpoint was kept (checkpoint.file)";
    const bool there = ::access(checkpoint.c_str(), R_OK) == 0;
    return there ? "go on with --resume from " + checkpoint.string() : "no checkpoint had been written yet";
  };
  auto ranks = training::Communicator::create(options);
  if (!ranks) return complain(ranks.error());
  const bool first = (*ranks)->rank() == 0;
  app::ProgressLine line(request.quiet);
  app::StepTimesFile times(first ? request.step_times : "");
  training::Trainer::Options how{.resume = request.resume, .show = nullptr};
  if (first)
    how.show = [&](const training::Progress& progress) {
      line.show(progress);
      times.add(progress);
    };
  auto trainer = training::Trainer::create(recipe, **ranks, how);
  if (!trainer && (*ranks)->size() == 1) return complain(trainer.error());
  if (!trainer) (*ranks)->fail(trainer.error().message);
  if (first && !request.quiet) app::print_plan(recipe, (*ranks)->size());
  auto outcome = (*trainer)->run();
  line.end();
  if (!outcome && (*ranks)->size() == 1) {
    fmt::print(stderr, "gradwatt train: {}; {}\n", outcome.error().message, options.last_words());
    return training::kFailedRank;
  }
  if (!outcome) (*ranks)->fail(outcome.error().message);
  if (first) app::print_outcome(*outcome, (*ranks)->size());
  trainer->reset();
  (*ranks)->close();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  CLI::App app{"Trains a neural network data-parallel, one process a rank.", "gradwatt train"};
  app.add_option("RECIPE", request.recipe, "TOML file that says what to train and how (examples/recipes)");
  app.add_option("--set", request.settings, "table.key=value, in place of what the recipe says")
      ->allow_extra_args(false);
  app.add_option("--describe", request.describe, "print layers, parameters and operations of a model, then end");
  app.add_flag("--settings", request.list_settings, "list all settings of a recipe, then end");
  app.add_flag("--resume", request.resume, "go on from checkpoint.file if it is there");
  app.add_option("--check", request.check_for_ranks, "say what is wrong with the recipe for so many ranks, then end");
  app.add_option("--step-times", request.step_times, "write rank 0's phase times of each update to this CSV file");
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
