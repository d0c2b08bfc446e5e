// All-reduce over trees.
//
// Binomial: reduce to one rank, then broadcast, the whole vector in each of 2⌈lg p⌉ rounds.
//
//   t = 2⌈lg p⌉(α + nβ) + ⌈lg p⌉nγ                      bytes a rank: 2n(p−1)/p, mean
//
// Double binary tree, pipelined (what NCCL calls Tree): two trees of height h = ⌊lg p⌋, each for half of the vector in
// k pieces; the leaves of one are the inner ranks of the other. An inner rank with two children receives 2n in all (n/2
// from each child and from its parent, n/2 as a leaf), which keeps its link busy; the first piece passes 2h hops, of
// which each carries one or two pieces of n/2k at once:
//
//   t(k) = 2nβ + kα + 2h(α + 1.5 · nβ/2k) + nγ           2n is n for p = 2, 1.5n for p = 3
//   least at k = √(1.5 h nβ/α); tends to 2nβ + 2hα where α is small
//
// Sources: Thakur, Rabenseifner, Gropp 2005 (binomial); Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth
// broadcast, reduction and scan", 2009 (two trees). The factor 1.5 is the mean of one and two pieces a hop, within 3 %
// of the time of simulated messages from 2 to 1024 ranks (simulation/all_reduce_test.cpp). Range: pieces that wait for
// the one before.
#pragma once

#include "gradwatt/planning/collectives/cost.hpp"

namespace gradwatt::planning {

[[nodiscard]] Traffic binomial_all_reduce(int ranks, double bytes, const Level& level);

/// Pieces a tree that take least time, at least 1 and at most `kMostTreePieces`.
inline constexpr int kMostTreePieces = 64;  ///< more gain a few per cent at most, and cost messages
[[nodiscard]] int best_tree_pieces(int ranks, double bytes, const Level& level);
[[nodiscard]] Traffic double_tree_all_reduce(int ranks, double bytes, const Level& level, int pieces);
[[nodiscard]] Traffic double_tree_all_reduce(int ranks, double bytes, const Level& level);

/// One way along a chain of ranks (reduce, or broadcast) in many small pieces: (p − 1)α + nβ. How trees over nodes go
/// through the GPUs of one.
[[nodiscard]] Traffic pipelined_chain(int ranks, double bytes, const Level& level);

/// ⌊lg p⌋: hops from the root of the tree to its farthest leaf.
[[nodiscard]] int tree_height(int ranks);

}  // namespace gradwatt::planning
