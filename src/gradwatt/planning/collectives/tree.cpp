#include "gradwatt/planning/collectives/tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gradwatt::planning {
namespace {

constexpr double kPiecesAHop = 1.5;  // tree.hpp

}  // namespace

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
  const double best = std::sqrt(kPiecesAHop * tree_height(ranks) * bytes / level.bytes_per_s / level.latency_s);
  return static_cast<int>(std::lround(std::clamp<double>(best, 1, kMostTreePieces)));
}

Traffic double_tree_all_reduce(int ranks, double bytes, const Level& level, int pieces) {
  if (ranks == 1) return {};
  const double busiest = std::min(2.0, ranks / 2.0) * bytes / level.bytes_per_s;
  const double first = 2.0 * tree_height(ranks) * level.message_s(kPiecesAHop * bytes / 2 / pieces);
  const double share = 2.0 * (ranks - 1) / ranks;  // every rank but the root sends each half up and gets it back once
  return {.seconds = busiest + pieces * level.latency_s + first + level.reduce_s(bytes),
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
