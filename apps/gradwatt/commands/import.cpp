// `gradwatt import FILE… -o DIR`: recordings of other tools become a run like any other.
#include <fmt/format.h>

#include <ostream>

#include "commands/table.hpp"
#include "gradwatt/ingest/import.hpp"
#include "gradwatt/record/store.hpp"
#include "show_report.hpp"

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;

/// A run folder is never mixed with another run, nor a folder of the user's filled.
core::Result<void> make_run_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && (!fs::is_directory(folder, error) || !fs::is_empty(folder, error)))
    return core::fail(
        core::Errc::wrong_use,
        fmt::format("import: {} is there already and not an empty folder; name a new one", folder.string()));
  fs::create_directories(folder, error);
  if (error)
    return core::fail(core::Errc::wrong_use,
                      fmt::format("import: cannot make the folder {}: {}", folder.string(), error.message()));
  return {};
}

/// A file name that stays inside its folder, whatever the recording calls its host.
std::string file_name_for(const record::Run& run) {
  std::string name(run.text(record::meta::kHost).value_or(""));
  std::erase_if(name, [](char c) { return c == '/' || c == '\0'; });
  return (name.empty() || name.starts_with('.') ? "imported" : name) + ".db";
}

}  // namespace

core::Result<int> run_import(Context& context, Arguments arguments) {
  Options options(
      context, "import",
      "Turns recordings of other tools into a run. What is not understood is said with its line; the rest is "
      "kept.");
  std::vector<std::string> files;
  std::string output;
  options.app().add_option("FILE", files, "recordings that belong to one run")->required();
  options.app().add_option("-o,--output", output, "run folder to make")->required();
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  const auto settings = options.settings();
  if (!settings) return core::fail(settings.error());

  std::vector<fs::path> paths;
  for (const auto& file : files) paths.push_back(context.working_folder / file);
  auto imported = ingest::import_files(paths);
  if (!imported) return core::fail(imported.error());
  for (const auto& diagnostic : imported->diagnostics) complain(context, ingest::format(diagnostic));
  const auto folder = (context.working_folder / output).lexically_normal();
  if (auto made = make_run_folder(folder); !made) return core::fail(made.error());
  if (auto saved = record::save(imported->run, folder / file_name_for(imported->run)); !saved)
    return core::fail(saved.error());
  const auto summary = energy::summarize(imported->run, summary_options(*settings));
  show_report(context, *settings, imported->run, summary, {folder, output});
  return 0;
}

}  // namespace gradwatt::app
