#include "gradwatt/training/loop/evaluation.hpp"

#include <ATen/ATen.h>

#include "gradwatt/training/loop/precision.hpp"

namespace gradwatt::training {

core::Result<Metrics> evaluate(const Recipe& recipe, Communicator& ranks, Assembly& parts) {
  const torch::NoGradGuard no_grad;
  take_statistics_of_rank_zero(ranks, *parts.model);
  parts.model->eval();
  std::vector<double> sums(parts.objective->sums(), 0);
  if (auto begun = parts.validation_loader->begin_epoch(0); !begun) return core::fail(begun.error());
  while (true) {
    auto batch = parts.validation_loader->next();
    if (!batch) return core::fail(batch.error());
    if (!*batch) break;
    const Autocast autocast(recipe.precision, parts.device.type());
    const auto part = parts.objective->score(*parts.model, prepared((*batch)->input, recipe, parts.device),
                                             prepared((*batch)->target, recipe, parts.device), (*batch)->indices);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += part[i];
  }
  ranks.all_reduce(std::span(sums), Sum::sum);
  return parts.objective->metrics(sums);
}

}  // namespace gradwatt::training
