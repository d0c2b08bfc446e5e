// Recursive doubling: in each of lg p rounds every rank exchanges the whole vector with one partner and adds.
//
//   t = lg p · (α + nβ + nγ)                            bytes a rank: n · lg p
//
// Source: Thakur, Rabenseifner, Gropp 2005. Range: short vectors, where α dominates. Where p is no power of two,
// r = p − 2^⌊lg p⌋ ranks hand their vector to a partner first and get the result last: + 2(α + nβ) + nγ, an
// approximation that holds where nothing overlaps.
#pragma once

#include "gradwatt/planning/collectives/cost.hpp"

namespace gradwatt::planning {

[[nodiscard]] Traffic recursive_doubling_all_reduce(int ranks, double bytes, const Level& level);

/// Ranks that take part in the rounds (largest power of two that is not above `ranks`), and those folded into them.
struct Fold {
  int core = 1, folded = 0, rounds = 0;
};
[[nodiscard]] Fold fold_to_power_of_two(int ranks);
/// What handing in and out costs; nothing without folded ranks.
[[nodiscard]] Traffic folding_cost(const Fold& fold, double bytes, const Level& level);

}  // namespace gradwatt::planning
