// A training as the user writes it down: a TOML file in tables, each value also by `--set table.key=value`. The table
// in recipe.cpp is the list of keys; its help, the checks and the error texts come from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/data/data_spec.hpp"
#include "gradwatt/training/data/loader.hpp"
#include "gradwatt/training/gradient_sync/gradient_sync.hpp"
#include "gradwatt/training/models/model.hpp"
#include "gradwatt/training/optimisation/optimizer.hpp"
#include "gradwatt/training/optimisation/schedule.hpp"
#include "gradwatt/training/strategies/strategy_spec.hpp"

namespace gradwatt::training {

/// Type in which forward and backward passes compute; weights, optimizer and reductions stay fp32.
enum class Precision { fp32, bf16, fp16, fp64 };

struct Recipe {
  std::string name;
  ModelSpec model;
  std::string weights;  ///< safetensors file to begin with; empty: initialised from the seed
  DataSpec data;        ///< of both splits
  LoaderSettings loader;
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
  SyncOptions sync;
  StrategySpec strategy;

  std::int64_t local_batch = 0, global_batch = 0;  ///< exactly one is given
  std::int64_t accumulate = 1;                     ///< micro-steps an update
  std::int64_t samples_per_rank = 0;               ///< above 0 the data set grows: each rank adds so many examples

  Precision precision = Precision::fp32;
  bool channels_last = false;
  bool sync_batch_norm = false;
  double clip = 0;  ///< largest gradient norm; 0: no clipping
  double label_smoothing = 0;

  std::int64_t epochs = 1;
  std::int64_t steps = 0;                  ///< ends earlier after so many updates; 0: does not
  std::int64_t evaluate_every_epochs = 1;  ///< 0: never
  std::uint64_t seed = 1;
  std::int64_t threads = 0;   ///< of each rank's operations; 0: cores of the host / its ranks
  bool verify_ranks = false;  ///< compares the parameters of all ranks bitwise after every step

  std::filesystem::path checkpoint;  ///< file; empty: none is kept
  std::int64_t checkpoint_every_epochs = 1;
  std::int64_t checkpoint_every_steps = 0;  ///< 0: only at epoch ends
  bool stop_on_checkpoint_error = true;
};

/// Reads a recipe and applies `settings` ("table.key=value"), in this order. Errors: not_found, unusable_input with
/// file and line, wrong_use for an unknown key (with the nearest one) or a value that makes no sense.
[[nodiscard]] core::Result<Recipe> load_recipe(const std::filesystem::path& file,
                                               std::span<const std::string> settings);
[[nodiscard]] core::Result<Recipe> parse_recipe(std::string_view toml, std::string_view where,
                                                std::span<const std::string> settings);

struct RecipeKey {
  std::string_view key, help;
};
[[nodiscard]] std::vector<RecipeKey> recipe_keys();

/// Batch of one rank and micro-step for `ranks` ranks. Errors: wrong_use when a fixed global batch does not divide.
[[nodiscard]] core::Result<std::int64_t> micro_batch(const Recipe& recipe, int ranks);

}  // namespace gradwatt::training
