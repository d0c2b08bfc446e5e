#include "gradwatt/planning/collectives/halving_doubling.hpp"

#include "gradwatt/planning/collectives/recursive_doubling.hpp"

namespace gradwatt::planning {

Traffic halving_doubling_all_reduce(int ranks, double bytes, const Level& level) {
  const auto fold = fold_to_power_of_two(ranks);
  const double half = bytes * (fold.core - 1) / fold.core, active = static_cast<double>(fold.core) / ranks;
  const Traffic rounds{
      .seconds = 2 * fold.rounds * level.latency_s + 2 * half / level.bytes_per_s + level.reduce_s(half),
      .messages = active * 2 * fold.rounds,
      .bytes = active * 2 * half};
  return rounds + folding_cost(fold, bytes, level);
}

}  // namespace gradwatt::planning
