#include "gradwatt/ingest/smi_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/csv_line.hpp"
#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/smi_cell.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::array kSeparators{',', ';', '\t', '|'};
constexpr std::size_t kMaxColumns = 4096;

bool is_reading(Role role) {
  return role == Role::metric || role == Role::plain_power || role == Role::reason || role == Role::bare;
}
bool is_identity(Role role) {
  return role == Role::index || role == Role::uuid || role == Role::bus_id || role == Role::name || role == Role::host;
}

struct BareKind {
  std::string_view word;  // in the file's name
  std::string_view column;
};
constexpr auto kBareKinds = std::to_array<BareKind>({
    {"power", "power"},
    {"watt", "power"},
    {"util", "utilization.gpu"},
    {"usage", "utilization.gpu"},
    {"temp", "temperature.gpu"},
    {"memory", "memory.used"},
    {"clock", "clocks.sm"},
});

/// Gives "GPU0" a metric: by its unit, else by the name of the file.
void settle_bare(ColumnMeaning& column, std::string_view file_name, std::vector<std::string>& notes) {
  const auto adopt = [&](std::string_view known_name) {
    const auto known = meaning_of(known_name);
    column.role = known.role, column.metric = known.metric, column.unit = known.unit;
  };
  if (unit_factor(column.written_unit, "w")) return adopt("power");
  if (unit_factor(column.written_unit, "pct")) return adopt("utilization.gpu");
  if (unit_factor(column.written_unit, "c")) return adopt("temperature.gpu");
  if (unit_factor(column.written_unit, "bytes")) return adopt("memory.used");
  const auto lower = core::to_lower(file_name.substr(file_name.rfind('/') + 1));
  for (const auto& row : kBareKinds) {
    if (lower.find(row.word) == std::string::npos) continue;
    adopt(row.column);
    notes.push_back(fmt::format("column {} says no more than its GPU; taken as {} in {} because of the file's name",
                                in_quotes(column.name), row.column, column.unit == "w" ? "W" : column.unit));
    return;
  }
  notes.push_back(
      fmt::format("column {} names a GPU but not what it holds; name it e.g. {}_power_w in the header to have it read",
                  in_quotes(column.name), column.name));
  column.role = Role::unknown;
}

std::string_view unit_measured(const ColumnMeaning& meaning) {
  if (meaning.metric) return record::info(*meaning.metric).unit;
  if (meaning.role == Role::plain_power) return "w";
  const auto at = meaning.detail.rfind('_');  // an attribute's name ends in its unit
  return meaning.role == Role::fixed && at != std::string_view::npos ? meaning.detail.substr(at + 1) : "";
}

/// Sets the factor of bare numbers; a unit that cannot measure this makes the column unknown.
void settle_unit(LayoutColumn& column, const ImportOptions& options, std::vector<std::string>& notes) {
  auto& meaning = column.meaning;
  if (!is_reading(meaning.role) && meaning.role != Role::fixed) return;
  const auto measured = unit_measured(meaning);
  std::string_view unit = meaning.written_unit.empty() ? meaning.unit : std::string_view(meaning.written_unit);
  if (const auto it = options.units.find(meaning.name); it != options.units.end()) {
    unit = it->second;
    column.fixed_factor = true;
  }
  if (unit.empty()) return;
  if (const auto factor = unit_factor(unit, measured)) {
    column.factor = *factor;
    return;
  }
  notes.push_back(fmt::format("column {} has the unit {}, which does not measure {}; not read", in_quotes(meaning.name),
                              in_quotes(unit), meaning.metric ? record::info(*meaning.metric).name : "power"));
  meaning.role = Role::unknown;
}

void note_unknown(Layout& layout) {
  std::vector<std::string> names;
  for (const auto& column : layout.columns)
    if (column.meaning.role == Role::unknown && !column.meaning.name.empty()) names.push_back(column.meaning.name);
  if (names.empty()) return;
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) list += (i == 0 ? "" : ", ") + in_quotes(names[i]);
  if (names.size() > kShown) list += fmt::format(" and {} more", names.size() - kShown);
  layout.notes.push_back(fmt::format("columns that are not read: {}", list));
}

/// Everything about the layout that follows from its columns' meanings.
void settle(Layout& layout, std::string_view file_name, const ImportOptions& options) {
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    auto& column = layout.columns[i];
    auto& meaning = column.meaning;
    if (meaning.role == Role::bare) settle_bare(meaning, file_name, layout.notes);
    settle_unit(column, options, layout.notes);
    if (meaning.role == Role::time &&
        (!layout.time || (meaning.official && !layout.columns[*layout.time].meaning.official)))
      layout.time = i;
    layout.foreign = layout.foreign || meaning.role == Role::foreign;
    layout.has_reading = layout.has_reading || is_reading(meaning.role);
    if (is_identity(meaning.role)) layout.identity.push_back(i);
    layout.identified = layout.identified || (is_identity(meaning.role) && meaning.role != Role::host);
    if (meaning.gpu && meaning.role != Role::unknown) layout.gpus.push_back(*meaning.gpu);
  }
  std::ranges::sort(layout.gpus);
  layout.gpus.erase(std::ranges::unique(layout.gpus).begin(), layout.gpus.end());
  if (!layout.gpus.empty())
    for (auto& column : layout.columns)
      if (!column.meaning.gpu && (is_reading(column.meaning.role) || column.meaning.role == Role::fixed))
        column.meaning.role = Role::unknown;  // of which GPU?
  note_unknown(layout);
}

std::size_t known_columns(const std::vector<ColumnMeaning>& meanings) {
  return static_cast<std::size_t>(
      std::ranges::count_if(meanings, [](const ColumnMeaning& m) { return m.role != Role::unknown; }));
}

bool holds_data(std::string_view cell) {
  const auto read = read_cell(cell);
  if (read.kind == CellKind::number) return true;
  return read.kind == CellKind::text && parse_time(cell).has_value();
}

/// One cell alone is a header only where it cannot be prose: nvidia-smi's own name of a reading.
bool is_lone_header(const ColumnMeaning& meaning) {
  if (!meaning.official || (meaning.role != Role::metric && meaning.role != Role::plain_power)) return false;
  return meaning.name.find('.') != std::string::npos || !meaning.written_unit.empty();
}

std::optional<std::vector<ColumnMeaning>> header_cells(std::string_view line, char separator) {
  std::vector<ColumnMeaning> meanings;
  const auto cells = split_cells(line, separator);
  if (cells.size() > kMaxColumns) return std::nullopt;
  for (const auto& cell : cells) {
    if (holds_data(cell)) return std::nullopt;
    meanings.push_back(meaning_of(cell));
  }
  if (meanings.size() == 1) return is_lone_header(meanings[0]) ? std::optional(meanings) : std::nullopt;
  const bool timed = std::ranges::any_of(meanings, [](const auto& m) { return m.role == Role::time; });
  // "MEMORY, TEMPERATURE, POWER" may be prose: without a time, some name must be nvidia-smi's own or carry a unit.
  const bool certain = std::ranges::any_of(meanings, [](const auto& m) {
    return !m.written_unit.empty() || (m.official && m.name.find_first_of("._") != std::string::npos);
  });
  if (!timed && !certain) return std::nullopt;
  const bool reads = std::ranges::any_of(meanings, is_reading, &ColumnMeaning::role);
  if (known_columns(meanings) < (reads ? 1U : 2U)) return std::nullopt;
  return meanings;
}

// --- tables without header

/// What a column's cells look like, over the first rows.
struct Looks {
  std::size_t rows = 0, time = 0, uuid = 0, bus = 0, pstate = 0, hex = 0, product = 0, number = 0, missing = 0;
  std::string unit;
  double least = 0, most = 0;
};

bool looks_like_bus_id(std::string_view cell) {  // 00000000:01:00.0
  const auto parts = core::split(cell, ':');
  if (parts.size() != 3 || parts[2].size() != 4 || parts[2][2] != '.') return false;
  return cell.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
}

void look_at(Looks& looks, std::string_view text) {
  ++looks.rows;
  const auto cell = read_cell(text);
  if (cell.kind == CellKind::missing || cell.kind == CellKind::fault) return void(++looks.missing);
  const auto time = parse_time(text);
  if (time && time->kind != TimeKind::relative) return void(++looks.time);
  if (text.starts_with("GPU-") || text.starts_with("MIG-")) return void(++looks.uuid);
  if (looks_like_bus_id(text)) return void(++looks.bus);
  if (text.starts_with("0x") || text.starts_with("0X")) return void(++looks.hex);
  if (text.size() <= 3 && text.starts_with('P') && read_cell(text.substr(1)).kind == CellKind::number)
    return void(++looks.pstate);
  if (cell.kind == CellKind::number) {
    looks.least = looks.number == 0 ? cell.value : std::min(looks.least, cell.value);
    looks.most = looks.number == 0 ? cell.value : std::max(looks.most, cell.value);
    ++looks.number;
    if (looks.unit.empty()) looks.unit = core::to_lower(cell.unit);
    return;
  }
  const auto lower = core::to_lower(text);
  for (const std::string_view maker : {"nvidia", "tesla", "geforce", "quadro", "grid"})
    if (lower.find(maker) != std::string::npos) return void(++looks.product);
}

std::string_view form_of(const Looks& looks) {
  const auto mostly = [&](std::size_t n) { return n > 0 && (n + looks.missing) * 10 >= looks.rows * 9; };
  if (mostly(looks.time)) return "timestamp";
  if (mostly(looks.uuid)) return "uuid";
  if (mostly(looks.bus)) return "pci.bus_id";
  if (mostly(looks.product)) return "name";
  if (mostly(looks.pstate)) return "pstate";
  return mostly(looks.hex) ? "clocks_event_reasons.active" : "";
}

struct Numbers {
  std::vector<std::size_t> watts, percents, megabytes;
  std::vector<std::size_t> bare;  // no unit: could be anything
};

/// Two columns of one unit where the second is constant and never below the first: a reading and its limit.
bool is_limit_of(const Looks& limit, const Looks& reading) {
  return limit.number > 0 && limit.least == limit.most && limit.least >= reading.most;
}

/// Names by unit and by the order that people ask for them in; empty where that is open.
std::vector<std::string> guess_names(const std::vector<Looks>& looks, std::vector<std::string>& guessed) {
  std::vector<std::string> names(looks.size());
  Numbers numbers;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    names[i] = form_of(looks[i]);
    if (!names[i].empty() || looks[i].number == 0) continue;
    const auto& unit = looks[i].unit;
    (unit == "w"     ? numbers.watts
     : unit == "%"   ? numbers.percents
     : unit == "mib" ? numbers.megabytes
                     : numbers.bare)
        .push_back(i);
  }
  const auto guess = [&](std::size_t column, std::string_view name) {
    names[column] = name;
    guessed.push_back(fmt::format("column {} as {}", column + 1, name));
  };
  const auto pair = [&](const std::vector<std::size_t>& at, std::string_view reading, std::string_view limit) {
    if (at.size() == 1) guess(at[0], reading);
    if (at.size() != 2) return;
    const bool second = is_limit_of(looks[at[1]], looks[at[0]]);
    if (!second && !is_limit_of(looks[at[0]], looks[at[1]])) return;
    guess(at[second ? 0 : 1], reading), guess(at[second ? 1 : 0], limit);
  };
  pair(numbers.watts, "power.draw", "power.limit");
  pair(numbers.megabytes, "memory.used", "memory.total");
  if (!numbers.percents.empty() && numbers.percents.size() <= 2) guess(numbers.percents[0], "utilization.gpu");
  if (numbers.percents.size() == 2) guess(numbers.percents[1], "utilization.memory");
  return names;
}

std::string join(const std::vector<std::string>& parts) {
  std::string all;
  for (const auto& part : parts) all += (all.empty() ? "" : ", ") + part;
  return all;
}

std::vector<std::string> names_for(const std::vector<std::vector<std::string>>& rows, const ImportOptions& options,
                                   std::vector<std::string>& notes) {
  if (!options.columns.empty()) return options.columns;
  std::vector<Looks> looks(rows.front().size());
  for (const auto& row : rows)
    if (row.size() == looks.size())
      for (std::size_t i = 0; i < looks.size(); ++i) look_at(looks[i], row[i]);
  std::vector<std::string> guessed;
  auto names = guess_names(looks, guessed);
  if (!guessed.empty())
    notes.push_back(
        fmt::format("there is no header; by its units, took {} (--columns names them for certain)", join(guessed)));
  return names;
}

}  // namespace

std::optional<Layout> layout_of_header(std::string_view line, std::size_t line_number, std::string_view file_name,
                                       const ImportOptions& options) {
  std::optional<std::vector<ColumnMeaning>> best;
  Layout layout;
  for (const char separator : kSeparators) {
    auto meanings = header_cells(line, separator);
    if (!meanings || (best && known_columns(*meanings) <= known_columns(*best))) continue;
    best = std::move(meanings);
    layout.separator = separator;
  }
  if (!best) return std::nullopt;
  layout.line = line_number;
  layout.header = line;
  for (auto& meaning : *best) layout.columns.push_back({std::move(meaning)});
  settle(layout, file_name, options);
  return layout;
}

char likely_separator(std::string_view line) {
  const auto cells = [&](char separator) { return split_cells(line, separator).size(); };
  // The first that splits at all: a comma may be the decimal point only behind a semicolon or a tab.
  for (const char separator : {';', '\t'})
    if (cells(separator) > 1) return separator;
  return cells(',') > 1 || cells('|') == 1 ? ',' : '|';
}

core::Result<Layout> layout_of_rows(const std::vector<std::string>& rows, std::size_t first_line,
                                    std::string_view file_name, const ImportOptions& options) {
  Layout layout;
  layout.separator = likely_separator(rows.front());
  layout.line = first_line;
  std::vector<std::vector<std::string>> cells;
  for (const auto& row : rows) cells.push_back(split_cells(row, layout.separator));
  if (cells.front().size() > kMaxColumns)
    return core::fail(core::Errc::unusable_input, fmt::format("more than {} columns", kMaxColumns));
  for (const auto& name : names_for(cells, options, layout.notes)) {
    layout.columns.push_back({meaning_of(name)});
    if (name.empty()) layout.columns.back().meaning.name = fmt::format("column {}", layout.columns.size());
  }
  settle(layout, file_name, options);
  if (layout.has_reading) return layout;
  return core::fail(core::Errc::unusable_input,
                    fmt::format("no header names the {} columns of {} and the numbers carry no units, so what they are "
                                "cannot be known; name them with --columns, e.g. --columns timestamp,power.draw",
                                cells.front().size(), in_quotes(rows.front())));
}

}  // namespace gradwatt::ingest
