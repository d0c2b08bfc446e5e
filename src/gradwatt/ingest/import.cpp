#include "gradwatt/ingest/import.hpp"

#include <fmt/format.h>

#include <array>

#include "gradwatt/ingest/facts_json.hpp"
#include "gradwatt/ingest/kineto/kineto_reader.hpp"
#include "gradwatt/ingest/kineto/rank_contrast.hpp"
#include "gradwatt/ingest/kineto/rank_of_file.hpp"
#include "gradwatt/ingest/line_reader.hpp"
#include "gradwatt/ingest/merge.hpp"
#include "gradwatt/ingest/smi_cell.hpp"
#include "gradwatt/ingest/smi_csv.hpp"
#include "gradwatt/ingest/smi_xml.hpp"
#include "gradwatt/ingest/text_file.hpp"

namespace gradwatt::ingest {
namespace {

using Reader = core::Result<ImportedFile> (*)(LineReader&, const std::string& name, const ImportOptions&, Diagnostics&);

struct Format {
  std::string_view name;  ///< for people
  bool (*may_be)(const LineReader&);
  Reader read;
};

// Asked from the top: formats with a certain sign first, those that read any text last.
constexpr auto kFormats = std::to_array<Format>({
    {"facts as JSON", may_be_facts, read_facts_file},
    {"PyTorch profiler (Kineto) trace", kineto::may_be_trace, kineto::read_kineto},
    {"nvidia-smi -q -x", may_be_smi_xml, read_smi_xml},
    {"nvidia-smi query CSV (and CSV of own scripts with GPU columns), logs and tables", may_be_text, read_text},
});

struct Sign {
  std::string_view bytes, what;
};
constexpr auto kSigns = std::to_array<Sign>({
    {"PK\x03\x04", "a zip file or spreadsheet; save it as CSV"},
    {"\xfd"
     "7zXZ",
     "compressed with xz; unpack it first"},
    {"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"},
    {"BZh", "compressed with bzip2; unpack it first"},
    {"SQLite format 3", "a SQLite file; a run record is opened directly, not imported"},
    {"\x89HDF", "an HDF5 file"},
    {"\x7f"
     "ELF",
     "a program"},
    {"%PDF", "a PDF document"},
});

tl::unexpected<core::Error> refuse(const std::string& name, std::string_view what) {
  return core::fail(core::Errc::unusable_input,
                    fmt::format("{} cannot be imported: {}; can be read: {}", name, what, readable_formats()));
}

const Sign* sign_of(std::string_view head) {
  for (const auto& sign : kSigns)
    if (head.starts_with(sign.bytes)) return &sign;
  return nullptr;
}

/// A whole document, not a log with a bracket or dictionary in its first line.
bool is_json(std::string_view head) {
  std::string dense;
  for (const char c : head.substr(0, 256))
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') dense += c;
  for (const std::string_view begin : {"{\"", "[{", "[\"", "[[", "{}", "[]"})
    if (dense.starts_with(begin)) return true;
  return false;
}

core::Result<void> check(const ImportOptions& options) {
  if (options.interval && *options.interval <= core::Duration(0))
    return core::fail(core::Errc::wrong_use, "--interval must be longer than nothing, e.g. --interval 1s");
  for (const auto& [column, unit] : options.units)
    if (!is_unit(unit))
      return core::fail(core::Errc::wrong_use,
                        fmt::format("--unit {}={}: {} is no unit that is known; try W, mW, %, MHz, C or MiB", column,
                                    unit, in_quotes(unit)));
  return {};
}

core::Result<ImportedFile> read_one(LineReader& lines, const std::string& name, const ImportOptions& options,
                                    std::vector<Diagnostic>& diagnostics) {
  if (lines.head().empty() && lines.failure()) return refuse(name, "line 1: " + *lines.failure());
  if (lines.head().empty()) return refuse(name, "line 1: the file is empty (0 bytes)");
  if (const auto* sign = sign_of(lines.head())) return refuse(name, fmt::format("line 1: it is {}", sign->what));
  for (const auto& format : kFormats) {
    if (format.read == read_text && is_json(lines.head()))
      return refuse(name, "line 1: it is JSON of a kind that is not known");
    if (!format.may_be(lines)) continue;
    Diagnostics found(name);
    auto file = format.read(lines, name, options, found);
    if (!file && file.error().code == core::Errc::io && lines.is_packed())
      return refuse(name, "line 1: " + file.error().message);
    if (!file && file.error().code == core::Errc::io)
      return core::fail(core::Errc::io, name + " " + file.error().message);
    if (!file) return refuse(name, file.error().message);
    for (auto& diagnostic : found.finish()) diagnostics.push_back(std::move(diagnostic));
    return file;
  }
  return refuse(name, "line 1: it is a binary file of unknown kind");
}

record::Run join(std::vector<NamedRun> parts, std::vector<Diagnostic>& diagnostics) {
  kineto::settle_ranks(parts, diagnostics);
  auto run = merge(std::move(parts), diagnostics);
  kineto::contrast_ranks(run, diagnostics);
  return run;
}

}  // namespace

std::string readable_formats() {
  std::string all;
  for (const auto& format : kFormats) all += (all.empty() ? "" : ", ") + std::string(format.name);
  return all + ": " + kinds_of_text() + "; plain or packed with gzip";
}

core::Result<Imported> import_files(std::span<const std::filesystem::path> files, const ImportOptions& options) {
  if (files.empty()) return core::fail(core::Errc::wrong_use, "no file to import was given");
  if (auto fine = check(options); !fine) return core::fail(fine.error());
  Imported imported;
  std::vector<NamedRun> parts;
  for (const auto& path : files) {
    auto lines = LineReader::open(path);
    if (!lines) return core::fail(lines.error());
    auto file = read_one(*lines, path.string(), options, imported.diagnostics);
    if (!file) return core::fail(file.error());
    imported.rows += file->rows;
    parts.push_back({path.string(), std::move(file->run)});
  }
  imported.run = join(std::move(parts), imported.diagnostics);
  return imported;
}

core::Result<Imported> import_text(const std::string& name, std::string text, const ImportOptions& options) {
  if (auto fine = check(options); !fine) return core::fail(fine.error());
  Imported imported;
  auto lines = LineReader::from_text(std::move(text));
  auto file = read_one(lines, name, options, imported.diagnostics);
  if (!file) return core::fail(file.error());
  imported.rows = file->rows;
  std::vector<NamedRun> parts;
  parts.push_back({name, std::move(file->run)});
  imported.run = join(std::move(parts), imported.diagnostics);
  return imported;
}

}  // namespace gradwatt::ingest
