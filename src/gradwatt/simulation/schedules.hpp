// The message patterns of planning/collectives, one function each. `bytes` is what every member holds.
#pragma once

#include <span>

#include "gradwatt/simulation/schedule.hpp"

namespace gradwatt::simulation {

[[nodiscard]] Schedule ring_schedule(int members, double bytes);
[[nodiscard]] Schedule recursive_doubling_schedule(int members, double bytes);
[[nodiscard]] Schedule halving_doubling_schedule(int members, double bytes);
[[nodiscard]] Schedule binomial_schedule(int members, double bytes);
/// Two binary trees, each for half of the vector in `pieces`.
[[nodiscard]] Schedule double_tree_schedule(int members, double bytes, int pieces);
/// Every member sends `bytes` to every other, in members − 1 rounds in which all send at once.
[[nodiscard]] Schedule all_to_all_schedule(int members, double bytes);
/// Members numbered node after node: reduce-scatter rings in the nodes, rings over the nodes for each place in the
/// node, all-gather rings in the nodes. All of it as messages.
[[nodiscard]] Schedule two_level_schedule(int nodes, int members_per_node, double bytes);

/// Parent in the in-order binary tree over 0 … members − 1, whose leaves are the even numbers; −1 for its root.
[[nodiscard]] int in_order_parent(int member, int members);

}  // namespace gradwatt::simulation
