#include "gradwatt/planning/collectives/tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gradwatt::planning {

int tree_height(int ranks) { return std::bit_width(static_cast<unsigned>(ranks)) - 1; }

Traffic binomial_all_reduce(int ranks, double bytes, const Level& level) {
  const double rounds = std::bit_width(static_cast<unsigned>(ranks - 1));  // ⌈lg p⌉
  const double share = 2.0 * (ranks - 1) / ranks;
  return {.seconds = 2 * rounds * level.message_s(bytes) + rounds * level.reduce_s(bytes),
          .messages = share,
          .bytes = share * bytes};
}

int best_tree_pieces(int ranks, double bytes, const Level& level) {
  if (level.latency_s <= 0) return kMostTreePieces;
  const double best = std::sqrt(2.0 * tree_height(ranks) * 2 * bytes / level.bytes_per_s / level.latency_s);
  return static_cast<int>(std::lround(std::clamp<double>(best, 1, kMostTreePieces)));
}

Traffic double_tree_all_reduce(int ranks, double bytes, const Level& level, int pieces) {
  if (ranks == 1) return {};
  const double slots = pieces + 2.0 * tree_height(ranks);
  const double share = 2.0 * (ranks - 1) / ranks;  // every rank but the root sends each half up and gets it back once
  return {.seconds = slots * level.message_s(2 * bytes / pieces) + level.reduce_s(bytes),
          .messages = share * 2 * pieces,
          .bytes = share * bytes};
}

Traffic double_tree_all_reduce(int ranks, double bytes, const Level& level) {
  return double_tree_all_reduce(ranks, bytes, level, best_tree_pieces(ranks, bytes, level));
}

Traffic pipelined_chain(int ranks, double bytes, const Level& level) {
  if (ranks == 1) return {};
  const double share = (ranks - 1.0) / ranks;
  return {
      .seconds = (ranks - 1) * level.latency_s + bytes / level.bytes_per_s, .messages = share, .bytes = share * bytes};
}

}  // namespace gradwatt::planning
