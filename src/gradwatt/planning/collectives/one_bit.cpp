#include "gradwatt/planning/collectives/one_bit.hpp"

#include <cmath>

namespace gradwatt::planning {
namespace {

constexpr double kScaleBytes = 4;  // one fp32 a chunk

Traffic both_phases(int peers, double chunk, const Level& level) {
  const double messages = 2.0 * peers;
  return {.seconds = messages * level.message_s(chunk), .messages = messages, .bytes = messages * chunk};
}

}  // namespace

double one_bit_bytes(int ranks, double bytes, double element_bytes) {
  const double block = 8.0 * ranks;  // elements, so that each rank's chunk is whole bytes
  return std::ceil(bytes / element_bytes / block) * block / 8;
}

CollectiveCost one_bit_all_reduce(const Shape& shape, double bytes, const Level& node, const Level& rail,
                                  const OneBit& options) {
  const int ranks = shape.ranks();
  if (ranks == 1) return {};
  const double chunk = one_bit_bytes(ranks, bytes, options.element_bytes) / ranks + kScaleBytes;
  auto inside = both_phases(shape.gpus_per_node - 1, chunk, node);
  inside.seconds += bytes * (1 + 1.0 / ranks) / options.compress_bytes_per_s + node.reduce_s(bytes);
  return {.node = inside, .network = both_phases(ranks - shape.gpus_per_node, chunk, rail)};
}

}  // namespace gradwatt::planning
