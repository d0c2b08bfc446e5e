#include "gradwatt/ingest/smi_first_look.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/csv_line.hpp"
#include "gradwatt/ingest/smi_cell.hpp"
#include "gradwatt/ingest/timestamp.hpp"

namespace gradwatt::ingest {
namespace {

struct SampleRows {
  std::vector<std::string> rows;
  std::size_t first_line = 0;
};

std::size_t cell_count(std::string_view line) { return split_cells(line, likely_separator(line)).size(); }

/// The first lines that look like rows of one table.
SampleRows sample_rows(LineReader& lines, bool columns_given) {
  constexpr std::size_t kSample = 200;
  SampleRows sample;
  lines.rewind();
  while (const auto line = lines.next()) {
    const auto text = core::trim(line->text);
    if (text.empty() || line->too_long) continue;
    const auto cells = split_cells(text, likely_separator(text));
    const bool data = std::ranges::any_of(cells, [](const std::string& cell) {
      return read_cell(cell).kind == CellKind::number || parse_time(cell).has_value();
    });
    // One number alone is no table, unless the user says what it is.
    if (!data || (cells.size() < 2 && !columns_given && read_cell(cells[0]).unit.empty())) continue;
    if (!sample.rows.empty() && cells.size() != cell_count(sample.rows.front())) continue;
    if (sample.rows.empty()) sample.first_line = line->number;
    sample.rows.emplace_back(text);
    if (sample.rows.size() == kSample) break;
  }
  return sample;
}

void infer_layout(FirstLook& look, LineReader& lines, const std::string& name, const ImportOptions& options) {
  if (look.line == 0) return;
  const auto sample = sample_rows(lines, !options.columns.empty());
  if (sample.rows.empty()) return;
  const auto top = cell_count(look.text);
  const bool unknown_header = look.line < sample.first_line && top > 1 && top == cell_count(sample.rows.front());
  if (unknown_header && options.columns.empty()) {
    look.unread_table = fmt::format("line {}: none of the columns {} holds a GPU reading that is known", look.line,
                                    in_quotes(look.text));
    return;
  }
  auto layout = layout_of_rows(sample.rows, sample.first_line, name, options);
  if (layout) {
    look.layout = std::move(*layout);
  } else {
    look.unread_table = fmt::format("line {}: {}", sample.first_line, layout.error().message);
  }
}

}  // namespace

FirstLook look_through(LineReader& lines, const std::string& name, const ImportOptions& options, Diagnostics& notes) {
  FirstLook look;
  while (const auto line = lines.next()) {
    const auto text = core::trim(line->text);
    if (text.empty() || line->too_long) continue;
    if (look.line == 0) look.text = text.substr(0, 200), look.line = line->number;
    if (!layout_of_header(text, line->number, name, options)) continue;
    look.has_header = true;
    if (!options.columns.empty()) notes.note("has a header, so --columns is not used");
    return look;
  }
  infer_layout(look, lines, name, options);
  return look;
}

}  // namespace gradwatt::ingest
