// `gradwatt import FILE… -o DIR`: recordings of other tools become a run like any other.
#include <fmt/format.h>

#include <ostream>

#include "commands/table.hpp"
#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
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

struct Wanted {
  std::vector<std::string> files, columns, units;
  std::string output, interval, utc_offset;
};

/// "+02:00", "-0530" or "+1" in minutes.
std::optional<std::chrono::minutes> parse_offset(std::string_view text) {
  if (text.size() < 2 || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  std::string digits(text.substr(1));
  std::erase(digits, ':');
  if (digits.size() <= 2) digits += "00";
  const auto number = core::parse_int(digits);
  const bool fits = digits.size() <= 4 && number && *number >= 0 && *number % 100 < 60 && *number <= 1400;
  if (!fits) return std::nullopt;
  const auto minutes = static_cast<int>(*number / 100 * 60 + *number % 100);
  return std::chrono::minutes(text.front() == '-' ? -minutes : minutes);
}

core::Result<ingest::ImportOptions> import_options(const Wanted& wanted) {
  const auto wrong = [](std::string_view option, std::string_view text, std::string_view allowed) {
    return core::fail(core::Errc::wrong_use, fmt::format("import: {} is '{}', but must be {}", option, text, allowed));
  };
  ingest::ImportOptions options;
  options.columns = wanted.columns;
  if (!wanted.interval.empty()) {
    options.interval = core::parse_duration(wanted.interval);
    if (!options.interval || options.interval->count() <= 0)
      return wrong("--interval", wanted.interval, "a time above zero, such as 500ms or 1s");
  }
  if (!wanted.utc_offset.empty()) {
    options.utc_offset = parse_offset(wanted.utc_offset);
    if (!options.utc_offset) return wrong("--utc-offset", wanted.utc_offset, "like +02:00");
  }
  for (const auto& unit : wanted.units) {
    const auto equals = unit.find('=');
    if (equals == 0 || equals == std::string::npos) return wrong("--unit", unit, "COLUMN=UNIT, like power=mW");
    options.units[unit.substr(0, equals)] = unit.substr(equals + 1);
  }
  return options;
}

}  // namespace

core::Result<int> run_import(Context& context, Arguments arguments) {
  Options options(
      context, "import",
      "Turns recordings of other tools into a run. What is not understood is said with its line; the rest is "
      "kept.");
  Wanted wanted;
  auto& app = options.app();
  app.add_option("FILE", wanted.files, "recordings that belong to one run: " + ingest::readable_formats())
      ->type_name("")
      ->required();
  app.add_option("-o,--output", wanted.output, "run folder to make")->type_name("DIR")->required();
  app.add_option("--interval", wanted.interval, "time between readings, where a file has no time column")
      ->type_name("TIME");
  app.add_option("--columns", wanted.columns, "names of the columns, where a file has no header")
      ->delimiter(',')
      ->type_name("NAME,…");
  app.add_option("--unit", wanted.units, "COLUMN=UNIT, where a header names a wrong unit or none")->type_name("");
  app.add_option("--utc-offset", wanted.utc_offset, "+HH:MM of times that are written without a zone")->type_name("");
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  const auto settings = options.settings();
  if (!settings) return core::fail(settings.error());

  const auto reading = import_options(wanted);
  if (!reading) return core::fail(reading.error());
  std::vector<fs::path> paths;
  for (const auto& file : wanted.files) paths.push_back(context.working_folder / file);
  auto imported = ingest::import_files(paths, *reading);
  if (!imported) return core::fail(imported.error());
  for (const auto& diagnostic : imported->diagnostics) complain(context, ingest::format(diagnostic));
  const auto folder = (context.working_folder / wanted.output).lexically_normal();
  if (auto made = make_run_folder(folder); !made) return core::fail(made.error());
  if (auto saved = record::save(imported->run, folder / file_name_for(imported->run)); !saved)
    return core::fail(saved.error());
  const auto summary = energy::summarize(imported->run, summary_options(*settings));
  show_report(context, *settings, imported->run, summary, {folder, wanted.output});
  return 0;
}

}  // namespace gradwatt::app
