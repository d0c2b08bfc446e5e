#include "tables.hpp"

#include <fmt/format.h>

#include <utility>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/training/models/model.hpp"

namespace gradwatt::app {
namespace {

/// 25557032 -> "25,557,032"
std::string grouped(std::int64_t number) {
  auto digits = std::to_string(number);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string shape_text(const std::vector<std::int64_t>& shape) { return fmt::format("{}", fmt::join(shape, "x")); }

}  // namespace

int print_settings() {
  for (const auto& [key, help] : training::recipe_keys()) fmt::print("{:<28} {}\n", key, help);
  return 0;
}

core::Result<void> print_description(const std::string& model, std::span<const std::string> settings) {
  std::vector<std::string> all{"model.name=" + model};
  training::ModelSpec spec;
  for (const auto& setting : settings) {
    // Sizes belong to the data in a recipe; here there is none.
    for (const auto& [key, place] : {std::pair{"model.height=", &spec.height}, std::pair{"model.width=", &spec.width}})
      if (setting.starts_with(key)) *place = core::parse_int(setting.substr(std::string_view(key).size())).value_or(0);
    if (!setting.starts_with("model.height=") && !setting.starts_with("model.width=")) all.push_back(setting);
  }
  all.emplace_back("batch.local=1");
  const auto recipe = training::parse_recipe("", "--describe", all);
  if (!recipe) return core::fail(recipe.error());
  const auto height = spec.height, width = spec.width;
  spec = recipe->model;
  spec.height = height, spec.width = width;
  const auto complete = training::complete_spec(spec);
  if (!complete) return core::fail(complete.error());
  spec = *complete;
  const auto lines = training::describe(spec);
  if (!lines) return core::fail(lines.error());
  fmt::print("{} for {}x{}x{}\n\n{:<32} {:<22} {:>18} {:>14} {:>18}\n", model, spec.in_channels, spec.height,
             spec.width, "layer", "kind", "output", "parameters", "MACs");
  std::int64_t parameters = 0, macs = 0;
  for (const auto& line : *lines) {
    fmt::print("{:<32} {:<22} {:>18} {:>14} {:>18}\n", line.name, line.kind, shape_text(line.output),
               grouped(line.parameters), grouped(line.macs));
    parameters += line.parameters;
    macs += line.macs;
  }
  fmt::print("\n{} parameters ({} of gradients in fp32), {} multiply-accumulates a sample forward\n",
             grouped(parameters), core::format_si(static_cast<double>(4 * parameters), "B"), grouped(macs));
  return {};
}

void print_plan(const training::Recipe& recipe, int ranks) {
  const auto micro = training::micro_batch(recipe, ranks).value_or(0);
  fmt::print(stderr, "gradwatt train: {}, {} on {} rank{}, global batch {}{}\n", recipe.name, recipe.model.name, ranks,
             ranks == 1 ? "" : "s", micro * recipe.accumulate * ranks,
             recipe.accumulate > 1 ? fmt::format(" in {} micro-steps", recipe.accumulate) : "");
}

void print_outcome(const training::Outcome& outcome, int ranks, const TrainingCost& cost,
                   const std::filesystem::path& record) {
  fmt::print("\ntraining   {} updates, {} samples in {:.1f} s on {} rank{}: {:.1f} samples/s{}\n", outcome.updates,
             outcome.samples, outcome.train_s, ranks, ranks == 1 ? "" : "s",
             outcome.train_s > 0 ? static_cast<double>(outcome.samples) / outcome.train_s : 0,
             outcome.resumed ? " (resumed)" : "");
  fmt::print("time       {:.1f} s with evaluation and checkpoints\n", outcome.total_s);
  fmt::print("waiting    {:.2f} s for data, {:.2f} s for gradients of other ranks (rank 0)\n", outcome.data_wait_s,
             outcome.exposed_s);
  if (outcome.skipped_updates > 0)
    fmt::print("skipped    {} updates whose gradients overflowed\n", outcome.skipped_updates);
  if (!outcome.metrics.empty()) {
    fmt::print("result    ");
    for (const auto& [name, value] : outcome.metrics) fmt::print(" {} {:.5g}", name, value);
    fmt::print("\n");
  }
  const auto* label = "energy";
  for (const auto& line : lines_about(cost)) fmt::print("{:<10} {}\n", std::exchange(label, ""), line);
  if (!record.empty()) fmt::print("record     {}\n", record.string());
}

}  // namespace gradwatt::app
