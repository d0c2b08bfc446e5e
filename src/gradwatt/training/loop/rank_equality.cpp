#include "gradwatt/training/loop/rank_equality.hpp"

#include <ATen/ATen.h>

#include <span>

#include "gradwatt/core/hash.hpp"

namespace gradwatt::training {

std::uint64_t hash_of(const NamedTensors& tensors) {
  std::uint64_t hash = core::kHashBegin;
  for (const auto& [name, tensor] : tensors) {
    const auto here = tensor.detach().to(at::kCPU).contiguous();
    hash = core::hash_of(std::span(static_cast<const std::byte*>(here.data_ptr()), here.nbytes()), hash);
  }
  return hash;
}

bool same_on_all_ranks(Communicator& ranks, const NamedTensors& tensors) {
  const auto own = static_cast<std::int64_t>(hash_of(tensors));
  std::int64_t low = own, high = own;
  ranks.all_reduce(std::span(&low, 1), Sum::min);
  ranks.all_reduce(std::span(&high, 1), Sum::max);
  return low == high;
}

}  // namespace gradwatt::training
