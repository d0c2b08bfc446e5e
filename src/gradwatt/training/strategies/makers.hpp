// The strategies, one file each; private to this folder.
#pragma once

#include "gradwatt/training/strategies/strategy.hpp"

namespace gradwatt::training {

/// Parameters are the same on all ranks already; there are at least two.
using Made = core::Result<std::unique_ptr<Strategy>>;
[[nodiscard]] Made make_all_reduce(Communicator& ranks, const StrategySpec& spec, StrategyParts parts);
[[nodiscard]] Made make_one_bit(Communicator& ranks, const StrategySpec& spec, StrategyParts parts);
[[nodiscard]] Made make_two_level(Communicator& ranks, const StrategySpec& spec, StrategyParts parts);
[[nodiscard]] Made make_local_sgd(Communicator& ranks, const StrategySpec& spec, StrategyParts parts);
[[nodiscard]] Made make_stale_synchronous(Communicator& ranks, const StrategySpec& spec, StrategyParts parts);
[[nodiscard]] Made make_daso(Communicator& ranks, const StrategySpec& spec, StrategyParts parts);

}  // namespace gradwatt::training
