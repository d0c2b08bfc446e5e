// What runs turned out to take, beside what was predicted: one file a job in `fits/` beside the run store. The next
// plan of the job reads the rows and fits them with its own profile.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gradwatt/core/settings.hpp"
#include "gradwatt/planning/plan/residual.hpp"

namespace gradwatt::app {

/// Errors: wrong_use when neither setting nor home folder says where.
[[nodiscard]] core::Result<std::filesystem::path> fits_folder(const core::Settings& settings);

/// Letters, digits, - _ and . of the name; what else is in it becomes '-'.
[[nodiscard]] std::string job_file_name(std::string_view job);

/// Rows learnt for this job; none where there is no file. Errors: unusable_input for a file of another kind.
[[nodiscard]] core::Result<std::vector<planning::ProfileRow>> learnt_rows(const std::filesystem::path& folder,
                                                                          const std::string& job);
/// Replaces an older entry of the same run. Errors: not_permitted, io. Returns the file.
[[nodiscard]] core::Result<std::filesystem::path> learn(const std::filesystem::path& folder, const std::string& job,
                                                        const planning::ProfileRow& row,
                                                        const std::vector<planning::Residual>& residuals);
/// The same as text for the screen and for `--json`.
[[nodiscard]] std::string residuals_to_json(const std::string& job, const planning::ProfileRow& row,
                                            const std::vector<planning::Residual>& residuals);

}  // namespace gradwatt::app
