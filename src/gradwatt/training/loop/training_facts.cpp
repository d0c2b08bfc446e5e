#include "gradwatt/training/loop/training_facts.hpp"

#include <torch/version.h>

#include <algorithm>
#include <cmath>

namespace gradwatt::training {
namespace {

/// Of those that are trained: what is summed over the ranks.
std::int64_t parameters_in(const NamedTensors& tensors) {
  std::int64_t count = 0;
  for (const auto& [name, tensor] : tensors) count += tensor.numel();
  return count;
}

void tell_loader(StepMarks& marks, const LoaderSettings& loader) {
  marks.fact("loader.workers", static_cast<double>(loader.workers));
  marks.fact("loader.prefetch_factor", static_cast<double>(loader.prefetch));
  marks.fact("loader.pin_memory", loader.pin_memory ? 1.0 : 0.0);
  marks.fact("loader.persistent_workers", loader.persistent_workers ? 1.0 : 0.0);
}

}  // namespace

void tell_setup(StepMarks& marks, const Recipe& recipe, const Communicator& ranks, const Assembly& parts) {
  marks.fact("job.framework", std::string("gradwatt train, LibTorch " TORCH_VERSION));
  marks.fact("job.local_batch_size", static_cast<double>(parts.micro_batch));
  tell_loader(marks, recipe.loader);
  if (ranks.rank() != 0) return;
  const auto most = recipe.epochs * parts.updates_per_epoch;
  marks.fact("job.total_steps", static_cast<double>(recipe.steps > 0 ? std::min(recipe.steps, most) : most));
  marks.fact("job.epochs", static_cast<double>(recipe.epochs));
  marks.fact("job.recipe", recipe.name);
  marks.fact("job.model", recipe.model.name);
  marks.fact("job.parameters", static_cast<double>(parameters_in(parts.parameters)));
  marks.fact("job.world_size", static_cast<double>(ranks.size()));
  marks.fact("job.global_batch_size", static_cast<double>(parts.global_batch));
  marks.fact("job.accumulation_steps", static_cast<double>(recipe.accumulate));
  marks.fact("job.parallelism", std::string(ranks.size() > 1 ? "ddp" : "single"));
  marks.fact("job.optimizer", recipe.optimizer.name);
}

void tell_results(StepMarks& marks, const Communicator& ranks, const Metrics& metrics) {
  if (ranks.rank() != 0) return;
  for (const auto& [name, value] : metrics)
    if (name != "examples" && std::isfinite(value)) marks.fact("result." + name, value);
}

void tell_work(StepMarks& marks, const Communicator& ranks, std::int64_t updates, std::int64_t samples) {
  if (ranks.rank() != 0) return;
  marks.fact("job.updates", static_cast<double>(updates));
  marks.fact("job.samples", static_cast<double>(samples));
}

}  // namespace gradwatt::training
