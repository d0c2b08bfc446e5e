#include "gradwatt/training/strategies/strategy.hpp"

#include "gradwatt/training/strategies/makers.hpp"

namespace gradwatt::training {
namespace {

struct Row {
  StrategyName name;
  Made (*make)(Communicator&, const StrategySpec&, StrategyParts);
};
constexpr Row kRows[] = {{StrategyName::all_reduce, make_all_reduce},
                         {StrategyName::one_bit, make_one_bit},
                         {StrategyName::two_level, make_two_level},
                         {StrategyName::local_sgd, make_local_sgd},
                         {StrategyName::stale_synchronous, make_stale_synchronous},
                         {StrategyName::daso, make_daso}};

}  // namespace

bool Strategy::update(const Updating& with) {
  return guarded_update(with.optimizer, with.scaler, with.guard, with.rate);
}

GradientSync::Costs with_counters(GradientSync::Costs times, const Counters& counters) {
  times.bytes = counters.node.bytes + counters.network.bytes;
  times.messages = counters.node.messages + counters.network.messages;
  return times;
}

core::Result<std::unique_ptr<Strategy>> make_strategy(Communicator& ranks, const StrategySpec& spec,
                                                      StrategyParts parts) {
  if (ranks.size() == 1) return make_all_reduce(ranks, spec, std::move(parts));
  if (auto same = share_parameters(ranks, parts.parameters); !same) return core::fail(same.error());
  for (const auto& row : kRows)
    if (row.name == spec.name) return row.make(ranks, spec, std::move(parts));
  return core::fail(core::Errc::not_supported, "this strategy is not built in");
}

}  // namespace gradwatt::training
