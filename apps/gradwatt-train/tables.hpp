// What gradwatt-train prints besides the progress line.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "gradwatt/core/result.hpp"
#include "gradwatt/training/loop/recipe.hpp"
#include "gradwatt/training/loop/trainer.hpp"
#include "training_cost.hpp"

namespace gradwatt::app {

int print_settings();
/// `settings`: "model.height=224" and the like.
core::Result<void> print_description(const std::string& model, std::span<const std::string> settings);
void print_plan(const training::Recipe& recipe, int ranks);
/// `record`: folder of the run record, empty where the trainer wrote none.
void print_outcome(const training::Outcome& outcome, int ranks, const TrainingCost& cost,
                   const std::filesystem::path& record);

}  // namespace gradwatt::app
