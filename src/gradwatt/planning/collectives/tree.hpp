// All-reduce over trees.
//
// Binomial: reduce to one rank, then broadcast, the whole vector in each of 2⌈lg p⌉ rounds.
//
//   t = 2⌈lg p⌉(α + nβ) + ⌈lg p⌉nγ                      bytes a rank: 2n(p−1)/p, mean
//
// Double binary tree, pipelined (what NCCL calls Tree): two trees of height h = ⌊lg p⌋, each for half of the vector,
// the leaves of one are the inner ranks of the other, so each rank sends 2n in all. In pieces, k a tree, a slot moves
// one piece of both trees up and down (4 · n/2k bytes a direction), and the last piece needs 2h more slots than the
// first:
//
//   t(k) = (k + 2h)(α + 2nβ/k) + nγ,  least at k = √(2h · 2nβ/α):  (√(2nβ) + √(2hα))²
//
// which tends to 2nβ + 2hα. Sources: Thakur, Rabenseifner, Gropp 2005 (binomial); Sanders, Speck, Träff, "Two-tree
// algorithms for full bandwidth broadcast, reduction and scan", 2009. Range: the pipelined form assumes that a rank
// starts a piece when the one before has gone; without that it is up to half the fill time too long.
#pragma once

#include "gradwatt/planning/collectives/cost.hpp"

namespace gradwatt::planning {

[[nodiscard]] Traffic binomial_all_reduce(int ranks, double bytes, const Level& level);

/// Pieces a tree that take least time, at least 1 and at most `kMostTreePieces`.
inline constexpr int kMostTreePieces = 64;  ///< more gain less than a tenth up to 100 MB on 25 GB/s and 512 ranks
[[nodiscard]] int best_tree_pieces(int ranks, double bytes, const Level& level);
[[nodiscard]] Traffic double_tree_all_reduce(int ranks, double bytes, const Level& level, int pieces);
[[nodiscard]] Traffic double_tree_all_reduce(int ranks, double bytes, const Level& level);

/// One way along a chain of ranks (reduce, or broadcast) in many small pieces: (p − 1)α + nβ. How trees over nodes go
/// through the GPUs of one.
[[nodiscard]] Traffic pipelined_chain(int ranks, double bytes, const Level& level);

/// ⌊lg p⌋: hops from the root of the tree to its farthest leaf.
[[nodiscard]] int tree_height(int ranks);

}  // namespace gradwatt::planning
