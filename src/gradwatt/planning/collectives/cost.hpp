// What a collective costs in the α–β–γ model (Hockney's α–β with a term for the reduction): a message of n bytes takes
// α + nβ, n bytes are summed in nγ; every rank sends and receives one message at a time, in both directions at once,
// and no two messages share a link. One file an algorithm beside this one; trainer, planner and simulator use the same.
//
//   const Level network{.latency_s = 5e-6, .bytes_per_s = 10e9};
//   ring_all_reduce(16, 102'228'128, network).seconds      // 0.0193
//
// Known error: contention on shared links and the start of kernels are not in it. Where links are oversubscribed the
// true time is longer (`gradwatt simulate` shows by how much).
#pragma once

#include <limits>

namespace gradwatt::planning {

/// One kind of link as one rank sees it: inside a node, or between nodes.
struct Level {
  double latency_s = 0;    ///< α: from the call to the first byte at the other end
  double bytes_per_s = 1;  ///< 1/β: of one rank, each direction
  /// 1/γ: bytes of one operand that a rank adds in a second. The default makes the sum free: GPUs and network cards
  /// that reduce while they receive.
  double reduce_bytes_per_s = std::numeric_limits<double>::infinity();

  [[nodiscard]] double message_s(double bytes) const { return latency_s + bytes / bytes_per_s; }
  [[nodiscard]] double reduce_s(double bytes) const { return bytes / reduce_bytes_per_s; }
};

/// Of one operation on one level.
struct Traffic {
  double seconds = 0;   ///< until the last rank has the result
  double messages = 0;  ///< that one rank sends, mean over the ranks
  double bytes = 0;     ///< that one rank sends, mean over the ranks

  Traffic& operator+=(const Traffic& other) {
    seconds += other.seconds, messages += other.messages, bytes += other.bytes;
    return *this;
  }
  friend Traffic operator+(Traffic a, const Traffic& b) { return a += b; }
  friend Traffic operator*(Traffic a, double k) { return {a.seconds * k, a.messages * k, a.bytes * k}; }
};

/// Of one operation over nodes of several GPUs; the levels follow each other, so their seconds add up.
struct CollectiveCost {
  Traffic node;     ///< inside the nodes
  Traffic network;  ///< between them

  [[nodiscard]] double seconds() const { return node.seconds + network.seconds; }
  friend CollectiveCost operator*(CollectiveCost a, double k) { return {a.node * k, a.network * k}; }
};

/// Equal nodes of equal GPUs, one rank a GPU.
struct Shape {
  int nodes = 1;
  int gpus_per_node = 1;

  [[nodiscard]] int ranks() const { return nodes * gpus_per_node; }
};

}  // namespace gradwatt::planning
