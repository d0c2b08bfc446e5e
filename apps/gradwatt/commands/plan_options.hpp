// Options of `gradwatt plan`: what was typed, checked as far as that needs no file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gradwatt/planning/plan/question.hpp"
#include "gradwatt/planning/presets/preset.hpp"
#include "options.hpp"

namespace gradwatt::app {

struct PlanWish {
  // Where the job is known from.
  std::vector<std::string> from;
  std::string profile, preset, cluster;
  // What to try; empty: what the source suggests.
  std::vector<double> gpus, accumulation, caps_w;
  std::vector<planning::BatchChoice> batches;
  std::vector<planning::DataChoice> data;
  std::vector<std::string> hardware, strategies;
  std::optional<double> gpus_per_node, gpus_per_replica, gradient_bytes, node_w;
  std::string gpu, precision;
  // How long the job is.
  std::optional<double> epochs, samples, target_samples;
  std::vector<planning::TrainingOutcome> trainings;  ///< samples in epochs
  std::vector<planning::PublishedRun> known_hours;   ///< of a preset's job, whole runs
  // What must be kept, and what it costs.
  planning::Limits limits;
  std::optional<planning::GoodBatches> good_batches;
  planning::Prices prices;
  // What to do with the answer.
  std::string learn, emit, out, name, partition, account, constraint, site_cap_flag;
  std::optional<int> node_cores, workers;
  bool json = false, torchrun = false;
  std::vector<std::string> command;  ///< after --: what the job file runs
};

struct ParsedPlan {
  PlanWish wish;
  core::Settings settings;
};
/// Nothing when help was printed or the verb was only described. Errors: wrong_use.
[[nodiscard]] core::Result<std::optional<ParsedPlan>> parse_plan(Context& context, Arguments arguments);

}  // namespace gradwatt::app
