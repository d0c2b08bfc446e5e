// Where the Python agent lies and how it gets into the job: by environment only.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "gradwatt/launch/environment.hpp"

namespace gradwatt::app {

/// The folder `python` of an installed tree (share/gradwatt/python beside bin) or of the source tree of this build;
/// nothing when it is not there.
[[nodiscard]] std::optional<std::filesystem::path> python_folder(const std::filesystem::path& program);

/// What CMD's environment gets so that its processes can leave marks and its Python children load the agent.
[[nodiscard]] std::vector<launch::EnvironmentChange> agent_environment(
    const std::optional<std::filesystem::path>& python, const std::filesystem::path& marks_folder, bool agent);

}  // namespace gradwatt::app
