// Two-phase all-reduce of signs (1-bit Adam, 1-bit SGD with error feedback): each rank compresses its vector to one bit
// an element and a scale; chunk k of everybody goes to rank k (all-to-all), which sums, compresses again and sends the
// result to all (all-gather).
//
//   c = n / (8 b) bytes of signs for n bytes of elements of b bytes each, padded so that p ranks get whole bytes
//   each phase: p − 1 messages of c/p + 4 bytes a rank, one after the other
//   compress: n bytes by the worker, n/p by the server; the sum of a chunk reads p chunks: n bytes reduced in all
//
// Source: Tang et al., "1-bit Adam", 2021, and the DeepSpeed code's layout (one fp32 scale a chunk). Derived here from
// those; the message count is what makes it slow on many ranks. Range: p ≥ 1; the elements travel nowhere uncompressed
// (warm-up steps cost a plain all-reduce).
#pragma once

#include <limits>

#include "gradwatt/planning/collectives/cost.hpp"

namespace gradwatt::planning {

struct OneBit {
  double element_bytes = 4;                                               ///< fp32
  double compress_bytes_per_s = std::numeric_limits<double>::infinity();  ///< of uncompressed bytes; no limit: free
};

/// Bytes of signs of the whole vector, padded.
[[nodiscard]] double one_bit_bytes(int ranks, double bytes, double element_bytes = 4);

/// Flat over all ranks. Messages between GPUs of a node and those that leave it follow each other; compressing stands
/// at the node's level.
[[nodiscard]] CollectiveCost one_bit_all_reduce(const Shape& shape, double bytes, const Level& node, const Level& rail,
                                                const OneBit& options = {});

}  // namespace gradwatt::planning
