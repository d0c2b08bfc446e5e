// Other ways to exchange gradients, by what their closed forms cost against the usual one (two-level): one row each.
// Model: the profile's exchange time changes by that ratio; overlap with computing stays. Range: as collectives/.
#pragma once

#include <string_view>

#include "gradwatt/core/result.hpp"
#include "gradwatt/planning/cluster/cluster.hpp"
#include "gradwatt/planning/plan/question.hpp"

namespace gradwatt::planning {

/// Wrong use with the names that exist.
[[nodiscard]] core::Result<StrategyOption> strategy_option(std::string_view name, const Cluster& cluster,
                                                           double gradient_bytes);

}  // namespace gradwatt::planning
