// What a task minimises and how its result is judged: one file a task.
#pragma once

#include <torch/types.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gradwatt/training/data/dataset.hpp"
#include "gradwatt/training/data/fields.hpp"
#include "gradwatt/training/loop/recipe.hpp"
#include "gradwatt/training/models/model.hpp"

namespace gradwatt::training {

/// Results of an evaluation, best known first: ("accuracy_pct", 92.6), ("loss", 0.23), …
using Metrics = std::vector<std::pair<std::string, double>>;
[[nodiscard]] double value_of(const Metrics& metrics, std::string_view name);

class Objective {
 public:
  virtual ~Objective() = default;
  /// Mean over the batch, with gradient.
  [[nodiscard]] virtual torch::Tensor loss(Model& model, const torch::Tensor& input, const torch::Tensor& target) = 0;
  /// Sums of one batch of the evaluation, to be added over batches and ranks. `indices`: of its examples.
  [[nodiscard]] virtual std::vector<double> score(Model& model, const torch::Tensor& input, const torch::Tensor& target,
                                                  std::span<const std::size_t> indices) = 0;
  /// From the added sums. "loss" is always among them: schedules follow it.
  [[nodiscard]] virtual Metrics metrics(const std::vector<double>& sums) const = 0;
  [[nodiscard]] virtual std::size_t sums() const = 0;
};

[[nodiscard]] std::unique_ptr<Objective> make_classification(const Recipe& recipe);
/// Forecasts of fields; `validation` is kept.
[[nodiscard]] std::unique_ptr<Objective> make_forecast(std::shared_ptr<const FieldDataset> validation);
/// By what the data set holds. Errors: wrong_use when it is none of ours.
[[nodiscard]] core::Result<std::unique_ptr<Objective>> make_objective(const Recipe& recipe,
                                                                      const std::shared_ptr<const Dataset>& validation);

}  // namespace gradwatt::training
