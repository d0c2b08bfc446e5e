// How gradients or parameters are exchanged, by name: one row a strategy.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "gradwatt/core/result.hpp"

namespace gradwatt::simulation {

enum class StrategyKind : std::uint8_t { ring, tree, two_level, one_bit, daso, local_sgd, stale };

struct Strategy {
  StrategyKind kind = StrategyKind::two_level;
  int period = 1;  ///< steps from one exchange between nodes to the next
  int wait = 0;    ///< steps that go on before an exchange is waited for
};

struct StrategyInfo {
  std::string_view name, help;
  Strategy usual;  ///< period and wait where nobody says them
};
[[nodiscard]] std::span<const StrategyInfo> strategies();
[[nodiscard]] std::string_view name_of(StrategyKind kind);

/// By name, with its usual period and wait. Errors: wrong_use with all names.
[[nodiscard]] core::Result<Strategy> strategy_by_name(std::string_view name);

}  // namespace gradwatt::simulation
