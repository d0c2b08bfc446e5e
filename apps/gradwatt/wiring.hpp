// The only place that knows which backends exist.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gradwatt/core/settings.hpp"
#include "gradwatt/telemetry/sampler.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::app {

/// All backends that the settings allow, strongest sources first: a model fills only what nothing before it measures.
/// Errors: wrong_use for a name in sensors.include or sensors.exclude that no backend has.
[[nodiscard]] core::Result<std::vector<std::unique_ptr<telemetry::Backend>>> make_backends(
    const core::Settings& settings);

/// The same as the sampler wants them: the driver of GPUs opens beside the host's sources, which are opened in order.
/// `replay` not empty: the record there stands for all of them.
[[nodiscard]] core::Result<std::vector<telemetry::Sampler::Group>> make_groups(const core::Settings& settings,
                                                                               const std::filesystem::path& replay);

/// Whether every entry of a list of GPUs (indices, UUIDs, MIG ids) is one of this machine. Errors: wrong_use naming it.
[[nodiscard]] core::Result<void> check_gpus(const core::Settings& settings, const std::string& gpus);

}  // namespace gradwatt::app
