// Baselines as files, one a name, in `baselines/` beside the run store.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/core/settings.hpp"
#include "gradwatt/diagnosis/baseline.hpp"

namespace gradwatt::app {

/// Errors: wrong_use when neither setting nor home folder says where.
[[nodiscard]] core::Result<std::filesystem::path> baseline_folder(const core::Settings& settings);

/// Replaces an older one of that name. Errors: wrong_use for a name that is no file name, not_permitted, io.
[[nodiscard]] core::Result<void> save_baseline(const std::filesystem::path& folder,
                                               const diagnosis::Baseline& baseline);
/// Own ones first, then those that are published. Errors: not_found (with the names there are), unusable_input.
[[nodiscard]] core::Result<diagnosis::Baseline> load_baseline(const std::filesystem::path& folder,
                                                              const std::string& name);
/// Own ones by name; files that cannot be read are left out.
[[nodiscard]] std::vector<diagnosis::Baseline> list_baselines(const std::filesystem::path& folder);

}  // namespace gradwatt::app
