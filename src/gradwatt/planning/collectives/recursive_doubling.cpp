#include "gradwatt/planning/collectives/recursive_doubling.hpp"

#include <bit>

namespace gradwatt::planning {

Fold fold_to_power_of_two(int ranks) {
  const auto core = std::bit_floor(static_cast<unsigned>(ranks));
  return {.core = static_cast<int>(core), .folded = ranks - static_cast<int>(core), .rounds = std::countr_zero(core)};
}

Traffic folding_cost(const Fold& fold, double bytes, const Level& level) {
  if (fold.folded == 0) return {};
  const double share = 2.0 * fold.folded / (fold.core + fold.folded);
  return {.seconds = 2 * level.message_s(bytes) + level.reduce_s(bytes), .messages = share, .bytes = share * bytes};
}

Traffic recursive_doubling_all_reduce(int ranks, double bytes, const Level& level) {
  const auto fold = fold_to_power_of_two(ranks);
  const double active = static_cast<double>(fold.core) / ranks;
  const Traffic rounds{.seconds = fold.rounds * (level.message_s(bytes) + level.reduce_s(bytes)),
                       .messages = active * fold.rounds,
                       .bytes = active * fold.rounds * bytes};
  return rounds + folding_cost(fold, bytes, level);
}

}  // namespace gradwatt::planning
