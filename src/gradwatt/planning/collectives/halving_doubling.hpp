// Recursive halving, then doubling (Rabenseifner): a reduce-scatter in which partners exchange halves of what is left,
// then the same backwards.
//
//   t = 2 lg p · α + 2((p−1)/p)nβ + ((p−1)/p)nγ         bytes a rank: 2n(p−1)/p
//
// Source: Thakur, Rabenseifner, Gropp 2005. Range: long vectors on many ranks: the bytes of a ring with lg p instead of
// p − 1 latencies, but partners lie far apart, so links above the first switch carry more. p that is no power of two is
// folded as in recursive_doubling.hpp.
#pragma once

#include "gradwatt/planning/collectives/cost.hpp"

namespace gradwatt::planning {

[[nodiscard]] Traffic halving_doubling_all_reduce(int ranks, double bytes, const Level& level);

}  // namespace gradwatt::planning
