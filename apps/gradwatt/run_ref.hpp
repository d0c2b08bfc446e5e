// What a user means by RUN: a run folder, a record file in it, a run id or name of the store, `last`, or a foreign
// file. Something that exists under that path wins over a run of the same name; `last` is always the store's latest.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "context.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/core/settings.hpp"
#include "gradwatt/record/store.hpp"

namespace gradwatt::app {

struct RunRef {
  enum class Kind { folder, file, foreign } kind = Kind::folder;
  std::filesystem::path path;
};

/// Where `settings` keep the runs. Errors: wrong_use when neither setting nor home folder is known.
[[nodiscard]] core::Result<std::filesystem::path> store_folder(const core::Settings& settings);

/// Errors: not_found, unusable_input (several runs match, a folder without a record).
[[nodiscard]] core::Result<RunRef> resolve_run(const core::Settings& settings,
                                               const std::filesystem::path& working_folder, const std::string& text);

/// Reads it; a foreign file is imported in memory, with what was not understood on `err`.
[[nodiscard]] core::Result<record::Run> load_run(Context& context, const RunRef& ref,
                                                 const record::LoadOptions& options = {});

}  // namespace gradwatt::app
