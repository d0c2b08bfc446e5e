#include "gradwatt/training/loop/objective.hpp"

#include <algorithm>
#include <limits>

namespace gradwatt::training {

double value_of(const Metrics& metrics, std::string_view name) {
  const auto found = std::ranges::find(metrics, name, [](const auto& item) { return std::string_view(item.first); });
  return found == metrics.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

core::Result<std::unique_ptr<Objective>> make_objective(const Recipe& recipe,
                                                        const std::shared_ptr<const Dataset>& validation) {
  if (validation->classes() > 0) return make_classification(recipe);
  if (auto fields = std::dynamic_pointer_cast<const FieldDataset>(validation)) return make_forecast(std::move(fields));
  return core::fail(core::Errc::wrong_use, "the data set holds neither classes nor fields on a grid");
}

}  // namespace gradwatt::training
