#include "run_ref.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <ostream>

#include "gradwatt/ingest/import.hpp"
#include "run_store.hpp"

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;

bool is_record_file(const fs::path& path) {
  if (path.extension() == ".db") return true;
  std::array<char, 15> magic{};
  std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
  return std::string_view(magic.data(), magic.size()) == "SQLite format 3";
}

}  // namespace

core::Result<fs::path> store_folder(const core::Settings& settings) {
  if (auto path = settings.path(core::setting("runs"))) return *path;
  return core::fail(core::Errc::wrong_use,
                    "no place for runs is known: HOME is not set; set GRADWATT_RUNS to a folder");
}

core::Result<RunRef> resolve_run(const core::Settings& settings, const fs::path& working_folder,
                                 const std::string& text) {
  std::error_code error;
  if (const auto path = working_folder / text; text != "last" && !text.empty() && fs::exists(path, error)) {
    if (fs::is_directory(path, error)) return RunRef{RunRef::Kind::folder, path};
    return RunRef{is_record_file(path) ? RunRef::Kind::file : RunRef::Kind::foreign, path};
  }
  const auto folder = store_folder(settings);
  if (!folder) return core::fail(folder.error());
  const auto entry = RunStore(*folder).find(text.empty() ? "last" : text);
  if (!entry) return core::fail(entry.error());
  return RunRef{RunRef::Kind::folder, entry->folder};
}

namespace {

/// A file below the working folder by its short name, in messages and as the run's source.
std::filesystem::path as_people_name_it(const std::filesystem::path& path) {
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  const auto near = path.lexically_relative(here);
  return error || near.empty() || *near.begin() == ".." ? path : near;
}

}  // namespace

core::Result<record::Run> load_run(Context& context, const RunRef& ref, const record::LoadOptions& options) {
  if (ref.kind == RunRef::Kind::file) return record::load_file(ref.path, options);
  if (ref.kind == RunRef::Kind::folder) {
    auto run = record::load_folder(ref.path, options);
    if (run)
      if (const auto name = name_in(ref.path)) run->set(record::meta::kName, *name);
    return run;
  }
  const auto path = as_people_name_it(ref.path);
  auto imported = ingest::import_files(std::span(&path, 1));
  if (!imported) return core::fail(imported.error());
  for (const auto& diagnostic : imported->diagnostics) complain(context, ingest::format(diagnostic));
  return std::move(imported->run);
}

}  // namespace gradwatt::app
