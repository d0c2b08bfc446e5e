#include "gradwatt/ingest/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/all_reduce_bench.hpp"
#include "gradwatt/ingest/fact_join.hpp"
#include "gradwatt/ingest/kernel_log.hpp"
#include "gradwatt/ingest/line_witness.hpp"
#include "gradwatt/ingest/merge.hpp"
#include "gradwatt/ingest/mllog.hpp"
#include "gradwatt/ingest/nccl_log.hpp"
#include "gradwatt/ingest/nccl_tests.hpp"
#include "gradwatt/ingest/pci_listing.hpp"
#include "gradwatt/ingest/smi_csv.hpp"
#include "gradwatt/ingest/smi_layout.hpp"
#include "gradwatt/ingest/smi_text.hpp"
#include "gradwatt/ingest/training_log.hpp"

namespace gradwatt::ingest {
namespace {

struct Witness {
  std::unique_ptr<LineWitness> of;
  std::uint64_t lines = 0;  ///< claimed
};

/// Asked from the top, the first that claims a line has it: those whose lines have a certain sign come first.
std::vector<Witness> witnesses(const std::string& name, const ImportOptions& options, Diagnostics& notes) {
  std::vector<Witness> all;
  const auto add = [&](std::unique_ptr<LineWitness> witness) { all.push_back({std::move(witness)}); };
  add(make_nccl_log());
  add(make_mllog());
  add(make_training_log(options));
  add(make_nccl_tests());
  add(make_all_reduce_bench());
  add(make_smi_text(name, options, notes));
  add(make_pci_listing());
  add(make_kernel_log(options));
  return all;
}

/// Cheap: most lines of a log have no comma, and a header has a word that every query file has.
bool may_be_query_header(std::string_view line) {
  if (line.size() > 20'000 || line.find_first_of(",;\t|") == std::string_view::npos) return false;
  for (const std::string_view word : {"power", "utilization", "temperature", "memory", "clocks", "util"})
    if (line.find(word) != std::string_view::npos) return true;
  return false;
}

struct Heard {
  std::uint64_t claimed = 0, others = 0;
  std::size_t first_claimed = 0, first_other = 0;
  std::string first_claimed_text, first_other_text;
  bool has_query_table = false;
};

Heard hear(LineReader& lines, std::vector<Witness>& all, const std::string& name, const ImportOptions& options) {
  Heard heard;
  lines.rewind();
  while (const auto line = lines.next()) {
    if (core::trim(line->text).empty() && heard.claimed == 0) continue;
    const auto mine = std::ranges::find_if(all, [&](Witness& witness) { return witness.of->take(*line); });
    if (mine != all.end()) {
      if (heard.claimed++ == 0) heard.first_claimed = line->number, heard.first_claimed_text = in_quotes(line->text);
      ++mine->lines;
      continue;
    }
    if (core::trim(line->text).empty()) continue;
    if (heard.others++ == 0) heard.first_other = line->number, heard.first_other_text = in_quotes(line->text);
    if (!heard.has_query_table && may_be_query_header(line->text)) {
      const auto layout = layout_of_header(core::trim(line->text), line->number, name, options);
      heard.has_query_table = layout && !layout->foreign;
    }
  }
  return heard;
}

/// The first line with text is a header, or a row that says itself what its cells are, or the user says what the
/// columns are: nothing else stands in such a file.
bool begins_as_query_file(LineReader& lines, const std::string& name, const ImportOptions& options) {
  if (!options.columns.empty()) return true;
  lines.rewind();
  while (const auto line = lines.next()) {
    const auto text = core::trim(line->text);
    if (text.empty()) continue;
    return layout_of_header(text, line->number, name, options).has_value() ||
           layout_of_rows({std::string(text.substr(0, kMaxLineBytes))}, line->number, name, options).has_value();
  }
  return false;
}

void say_what_was_heard(const std::vector<Witness>& all, const Heard& heard, Diagnostics& notes) {
  std::string kinds;
  for (const auto& witness : all)
    if (witness.lines > 0)
      kinds += fmt::format("{}{} lines of {}", kinds.empty() ? "" : ", ", witness.lines, witness.of->name());
  if (heard.others > 0)
    kinds += fmt::format("; {} other lines are not read, the first is line {}: {}", heard.others, heard.first_other,
                         heard.first_other_text);
  notes.note("read: " + kinds);
}

bool says_something(const record::Run& run, const std::vector<Witness>& all) {
  return run.extent() || !run.facts.empty() || !run.series.empty() || !run.marks.empty() || !run.events.empty() ||
         std::ranges::any_of(all,
                             [](const Witness& witness) { return witness.lines > 0 && witness.of->clean_is_news(); });
}

tl::unexpected<core::Error> no_figure(const std::vector<Witness>& all, const Heard& heard) {
  const auto most = std::ranges::max_element(all, {}, &Witness::lines);
  return core::fail(
      core::Errc::unusable_input,
      fmt::format("line {}: {} and {} other lines are of the kind {}, but hold no figure that can be used",
                  heard.first_claimed, heard.first_claimed_text, heard.claimed - 1, most->of->name()));
}

tl::unexpected<core::Error> not_tried() { return core::fail(core::Errc::unusable_input, ""); }

core::Result<ImportedFile> read_query(LineReader& lines, const std::string& name, const ImportOptions& options,
                                      Diagnostics& notes) {
  lines.rewind();
  return read_smi_csv(lines, name, options, notes);
}

}  // namespace

core::Result<ImportedFile> read_text(LineReader& lines, const std::string& name, const ImportOptions& options,
                                     Diagnostics& notes) {
  if (begins_as_query_file(lines, name, options)) return read_query(lines, name, options, notes);
  auto all = witnesses(name, options, notes);
  const auto heard = hear(lines, all, name, options);
  if (lines.failure())
    return core::fail(core::Errc::io, fmt::format("cannot be read to its end: {}", *lines.failure()));
  if (heard.claimed == 0) return read_query(lines, name, options, notes);

  ImportedFile file{.rows = heard.claimed};
  describe(file, name, "text");
  FactList facts(name);
  Testimony to{file.run, facts, notes};
  for (auto& witness : all)
    if (witness.lines > 0) witness.of->finish(to);
  auto found = facts.take();
  std::ranges::move(found, std::back_inserter(file.run.facts));
  join_facts(file.run.facts);
  say_what_was_heard(all, heard, notes);
  auto query =
      heard.has_query_table ? read_query(lines, name, options, notes) : core::Result<ImportedFile>(not_tried());
  if (!query)
    return says_something(file.run, all) ? core::Result<ImportedFile>(std::move(file)) : no_figure(all, heard);
  std::vector<NamedRun> parts;
  parts.push_back({name, std::move(query->run)});
  parts.push_back({name, std::move(file.run)});
  std::vector<Diagnostic> joined;  // both are one file: nothing that the user must be told
  return ImportedFile{merge(std::move(parts), joined), query->rows + file.rows};
}

std::string kinds_of_text() {
  Diagnostics notes("");
  const std::string name;
  const ImportOptions options;
  std::string kinds;
  for (const auto& witness : witnesses(name, options, notes))
    kinds += (kinds.empty() ? "" : ", ") + std::string(witness.of->name());
  return kinds;
}

}  // namespace gradwatt::ingest
