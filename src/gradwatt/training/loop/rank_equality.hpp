// Whether the ranks still have the same weights, bit by bit.
#pragma once

#include <cstdint>

#include "gradwatt/training/gradient_sync/communicator.hpp"
#include "gradwatt/training/named_tensors.hpp"

namespace gradwatt::training {

/// FNV-1a over the bytes of the tensors.
[[nodiscard]] std::uint64_t hash_of(const NamedTensors& tensors);

/// A collective; the same answer on all ranks.
[[nodiscard]] bool same_on_all_ranks(Communicator& ranks, const NamedTensors& tensors);

}  // namespace gradwatt::training
