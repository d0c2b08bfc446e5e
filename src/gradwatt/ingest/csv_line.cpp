#include "gradwatt/ingest/csv_line.hpp"

#include "gradwatt/core/text.hpp"

namespace gradwatt::ingest {
namespace {

/// End of the quoted piece that begins at `at` (which holds a quote): just behind its closing quote, or the end.
std::size_t quote_end(std::string_view line, std::size_t at) {
  for (++at; at < line.size(); ++at) {
    if (line[at] != '"') continue;
    if (at + 1 < line.size() && line[at + 1] == '"') {
      ++at;
    } else {
      return at + 1;
    }
  }
  return line.size();
}

std::string undouble(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    plain += text[i];
    if (text[i] == '"' && i + 1 < text.size() && text[i + 1] == '"') ++i;
  }
  return plain;
}

std::string_view unquote(std::string_view cell, std::vector<std::string>& scratch) {
  cell = core::trim(cell);
  if (cell.size() < 2 || !cell.starts_with('"') || !cell.ends_with('"')) return cell;
  cell = cell.substr(1, cell.size() - 2);
  if (cell.find('"') == std::string_view::npos) return core::trim(cell);
  scratch.push_back(undouble(cell));
  return core::trim(scratch.back());
}

}  // namespace

void split_cells(std::string_view line, char separator, std::vector<std::string_view>& cells,
                 std::vector<std::string>& scratch) {
  cells.clear();
  scratch.clear();
  // Must never move, views into its strings would dangle: a cell that needs it takes at least `"""` and a separator.
  if (line.find('"') != std::string_view::npos) scratch.reserve(line.size() / 4 + 1);
  for (std::size_t begin = 0, at = 0;;) {
    while (at < line.size() && (line[at] == ' ' || line[at] == '\t') && line[at] != separator) ++at;
    if (at < line.size() && line[at] == '"') at = quote_end(line, at);
    const auto end = line.find(separator, at);
    cells.push_back(unquote(line.substr(begin, end - begin), scratch));
    if (end == std::string_view::npos) return;
    begin = at = end + 1;
  }
}

std::vector<std::string> split_cells(std::string_view line, char separator) {
  std::vector<std::string_view> views;
  std::vector<std::string> scratch;
  split_cells(line, separator, views, scratch);
  return {views.begin(), views.end()};
}

}  // namespace gradwatt::ingest
