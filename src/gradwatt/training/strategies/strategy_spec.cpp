#include "gradwatt/training/strategies/strategy_spec.hpp"

#include <fmt/format.h>

namespace gradwatt::training {
namespace {

/// What a strategy cannot be combined with, and why.
struct Conflict {
  StrategyName name;
  bool Surroundings::*what;
  std::string_view setting, why;
};

constexpr Conflict kConflicts[] = {
    {StrategyName::stale_synchronous, &Surroundings::fp16, "run.precision = \"fp16\"",
     "a loss scale that changes meanwhile does not fit gradients under way; use bf16"},
    {StrategyName::stale_synchronous, &Surroundings::clip, "run.clip",
     "no rank sees all averaged gradients at once, so their norm is not known"},
    {StrategyName::stale_synchronous, &Surroundings::sync_batch_norm, "run.sync_batch_norm",
     "it lets all ranks wait for each other in every forward pass"},
};

}  // namespace

std::string_view word_of(StrategyName name) {
  switch (name) {
    case StrategyName::all_reduce:
      return "all-reduce";
    case StrategyName::two_level:
      return "two-level";
    case StrategyName::one_bit:
      return "one-bit";
    case StrategyName::local_sgd:
      return "local-sgd";
    case StrategyName::stale_synchronous:
      return "stale-synchronous";
    case StrategyName::daso:
      return "daso";
  }
  return "";
}

std::optional<std::string> conflict(const StrategySpec& spec, const Surroundings& around) {
  if (spec.name != StrategyName::all_reduce && around.narrow_wire)
    return fmt::format(
        "sync.wire narrows the gradients of sync.strategy = \"all-reduce\" alone; leave it out with \"{}\"",
        word_of(spec.name));
  for (const auto& row : kConflicts)
    if (row.name == spec.name && around.*row.what)
      return fmt::format("sync.strategy = \"{}\" does not go with {}: {}", word_of(spec.name), row.setting, row.why);
  return std::nullopt;
}

}  // namespace gradwatt::training
