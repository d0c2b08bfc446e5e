// The only place that knows which backends exist.
#pragma once

#include <memory>
#include <vector>

#include "gradwatt/core/settings.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::app {

/// All backends that the settings allow, strongest sources first: a model fills only what nothing before it measures.
/// Errors: wrong_use for a name in sensors.include or sensors.exclude that no backend has.
[[nodiscard]] core::Result<std::vector<std::unique_ptr<telemetry::Backend>>> make_backends(
    const core::Settings& settings);

}  // namespace gradwatt::app
