// This node as a run without samples: devices and facts of every source, the environment, limits. What doctor lints.
#pragma once

#include <memory>
#include <vector>

#include "context.hpp"
#include "gradwatt/record/run.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::app {

/// Sources that cannot be opened are left out: probe() tells why.
[[nodiscard]] record::Run look_at_node(const Context& context,
                                       const std::vector<std::unique_ptr<telemetry::Backend>>& backends);

}  // namespace gradwatt::app
