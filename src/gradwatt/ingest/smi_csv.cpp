#include "gradwatt/ingest/smi_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/csv_line.hpp"
#include "gradwatt/ingest/file_clock.hpp"
#include "gradwatt/ingest/power_meaning.hpp"
#include "gradwatt/ingest/power_series.hpp"
#include "gradwatt/ingest/sample_table.hpp"
#include "gradwatt/ingest/smi_cell.hpp"
#include "gradwatt/ingest/smi_layout.hpp"
#include "gradwatt/ingest/smi_value.hpp"

namespace gradwatt::ingest {
namespace {

using record::kMissing;
using record::MetricId;
constexpr auto kGpu = record::DeviceKind::gpu;
constexpr MetricId kPowerAverage = record::metric(kGpu, "power_avg");
constexpr MetricId kPowerInstant = record::metric(kGpu, "power_inst");
constexpr MetricId kReasons = record::metric(kGpu, "clock_event_reasons");

// Kinds of trouble, in words that end "the last of 12 …".
constexpr std::string_view kNotUnderstood = "lines that are no row of the table";
constexpr std::string_view kWrongCells = "lines with a wrong number of cells";
constexpr std::string_view kNoTime = "rows without a time that can be read";
constexpr std::string_view kNoDevice = "rows that do not say which GPU they are of";
constexpr std::string_view kBadCell = "cells that are no value of their column";
constexpr std::string_view kImpossible = "impossible values, taken as missing";
constexpr std::string_view kLongLine = "lines that are too long";
constexpr std::string_view kNul = "lines with NUL bytes";

class SmiCsv {
 public:
  SmiCsv(LineReader& lines, const std::string& name, const ImportOptions& options, Diagnostics& diagnostics)
      : lines_(lines), name_(name), options_(options), notes_(diagnostics), clock_(options) {}

  core::Result<ImportedFile> read();

 private:
  // The whole file.
  core::Result<void> find_first_layout();
  core::Result<void> infer_layout();
  core::Result<void> take_line(const Line& line);
  [[nodiscard]] tl::unexpected<core::Error> refuse() const;
  core::Result<ImportedFile> finish();

  // One line.
  enum class Fit { row, other, broken };
  [[nodiscard]] Fit split(const Line& line);
  bool try_header(const Line& line);
  void take_stray(const Line& line, bool broken_row);
  void use(Layout layout);
  core::Result<void> take_row(const Line& line);
  bool is_reading_row(const Line& line);
  void announce();
  std::optional<std::int64_t> time_of_row(const Line& line);
  [[nodiscard]] Identity identity_of_row(int wide_gpu) const;
  core::Result<std::optional<std::size_t>> device_of_row(const Line& line, int wide_gpu);
  void take_cells(const Line& line, std::size_t device, int wide_gpu);
  void take_metric(const Line& line, std::size_t device, const LayoutColumn& column, MetricId metric,
                   std::string_view text);
  void take_reasons(std::size_t device, int wide_gpu);
  void take_fixed(std::size_t device, const LayoutColumn& column, std::string_view text);
  void report_fault(const Line& line, std::size_t device, std::string_view text);
  [[nodiscard]] bool decimal_comma() const { return layout_->separator != ','; }
  [[nodiscard]] bool has_any_value() const;

  // The end.
  void describe(record::Run& run) const;
  void describe_findings(const TableFindings& findings);

  struct DeviceState {
    PowerMeaning power;
    std::int64_t rows = 0;
    std::vector<std::string> columns =
        std::vector<std::string>(record::metric_count(kGpu));  // that each metric is from
    std::set<std::string> faults;
  };
  DeviceState& state(std::size_t device);
  /// Column that a metric of a device of the finished run came from; the first device's where rows were dealt out.
  [[nodiscard]] std::string column_of(std::size_t device, MetricId metric) const;

  LineReader& lines_;
  const std::string& name_;
  const ImportOptions& options_;
  Diagnostics& notes_;
  FileClock clock_;
  SampleTable table_;

  std::optional<Layout> layout_;
  bool announced_ = false;  // the layout's notes were given
  bool has_header_ = false;
  std::vector<std::string_view> cells_;
  std::vector<std::string> scratch_;
  std::vector<DeviceState> states_;
  std::vector<std::size_t> units_seen_;  // of each column: cells with a unit
  std::vector<record::Event> events_;
  std::vector<record::Fact> facts_;

  std::uint64_t rows_ = 0, other_lines_ = 0, foreign_rows_ = 0, untimed_rows_ = 0;
  std::size_t untimed_line_ = 0, first_table_line_ = 0;
  std::string untimed_header_;
  bool timed_ = false;  // some used row had a time
  bool open_ = false;   // a row of the table came, and no foreign text behind an empty line since
  bool blank_before_ = false;
  std::size_t first_line_ = 0;  // first line with text, for the refusal; 0: none
  std::string first_text_;
  std::optional<std::string> unread_table_;  // a header without readings: "line 1: …"
  std::int64_t last_time_ = 0;
  bool cut_off_ = false;
};

core::Result<ImportedFile> SmiCsv::read() {
  if (auto found = find_first_layout(); !found) return core::fail(found.error());
  lines_.rewind();
  while (const auto line = lines_.next())
    if (auto taken = take_line(*line); !taken) return core::fail(taken.error());
  if (lines_.failure())
    return core::fail(core::Errc::io, fmt::format("cannot be read to its end: {}", *lines_.failure()));
  if (rows_ == 0) return refuse();
  return finish();
}

core::Result<void> SmiCsv::find_first_layout() {
  while (const auto line = lines_.next()) {
    const auto text = core::trim(line->text);
    if (text.empty() || line->too_long) continue;
    if (first_line_ == 0) first_text_ = text.substr(0, 200), first_line_ = line->number;
    const auto header = layout_of_header(text, line->number, name_, options_);
    if (!header) continue;
    has_header_ = true;
    if (!options_.columns.empty()) notes_.note("has a header, so --columns is not used");
    return {};
  }
  return infer_layout();
}

core::Result<void> SmiCsv::infer_layout() {
  if (first_line_ == 0) return {};
  constexpr std::size_t kSample = 200;
  std::vector<std::string> rows;
  std::size_t first_line = 0;
  lines_.rewind();
  while (const auto line = lines_.next()) {
    const auto text = core::trim(line->text);
    if (text.empty() || line->too_long) continue;
    const auto cells = split_cells(text, likely_separator(text));
    const bool data = std::ranges::any_of(cells, [](const std::string& cell) {
      return read_cell(cell).kind == CellKind::number || parse_time(cell).has_value();
    });
    // One number alone is no table, unless the user says what it is.
    if (!data || (cells.size() < 2 && options_.columns.empty() && read_cell(cells[0]).unit.empty())) continue;
    if (!rows.empty() && cells.size() != split_cells(rows.front(), likely_separator(rows.front())).size()) continue;
    if (rows.empty()) first_line = line->number;
    rows.emplace_back(text);
    if (rows.size() == kSample) break;
  }
  if (rows.empty()) return {};
  const auto top = split_cells(first_text_, likely_separator(first_text_));
  const bool unknown_header = first_line_ < first_line && top.size() > 1 &&
                              top.size() == split_cells(rows.front(), likely_separator(rows.front())).size();
  if (unknown_header && options_.columns.empty()) {
    unread_table_ = fmt::format("line {}: none of the columns {} holds a GPU reading that is known", first_line_,
                                in_quotes(first_text_));
    return {};
  }
  auto layout = layout_of_rows(rows, first_line, name_, options_);
  if (!layout) {
    unread_table_ = fmt::format("line {}: {}", first_line, layout.error().message);
    return {};
  }
  use(std::move(*layout));
  return {};
}

void SmiCsv::use(Layout layout) {
  layout_ = std::move(layout);
  announced_ = false;
  units_seen_.assign(layout_->columns.size(), 0);
}

SmiCsv::Fit SmiCsv::split(const Line& line) {
  if (!layout_) return Fit::other;
  split_cells(line.text, layout_->separator, cells_, scratch_);
  const auto wanted = layout_->columns.size();
  while (cells_.size() > wanted && cells_.back().empty()) cells_.pop_back();
  if (cells_.size() == wanted) return Fit::row;
  return cells_.size() > 1 && cells_.size() * 2 >= wanted ? Fit::broken : Fit::other;
}

core::Result<void> SmiCsv::take_line(const Line& line) {
  const bool after_blank = std::exchange(blank_before_, false);
  if (core::trim(line.text).empty()) {
    blank_before_ = true;
    return {};
  }
  if (line.too_long) {
    notes_.add(kLongLine, line.number, fmt::format("longer than {} bytes; not read", kMaxLineBytes));
    ++other_lines_;
    return {};
  }
  if (line.had_nul) notes_.add(kNul, line.number, "holds NUL bytes, as after a crash of the host; they are taken out");
  if (layout_ && !layout_->header.empty() && core::trim(line.text) == layout_->header) return {};  // repeated
  const auto fit = split(line);
  if (fit == Fit::row) return take_row(line);
  if (try_header(line)) return {};
  if (after_blank) open_ = false;
  take_stray(line, fit == Fit::broken);
  return {};
}

bool SmiCsv::try_header(const Line& line) {
  auto header = layout_of_header(core::trim(line.text), line.number, name_, options_);
  if (!header) return false;
  use(std::move(*header));
  return true;
}

/// A line that is neither header nor row. Text around the tables is only counted.
void SmiCsv::take_stray(const Line& line, bool broken_row) {
  if (layout_ && layout_->foreign) return;
  ++other_lines_;
  if (!open_ && has_header_) return;
  if (!broken_row) {
    notes_.add(kNotUnderstood, line.number, fmt::format("no row of the table: {}", in_quotes(line.text)));
    if (open_ && core::to_lower(line.text.substr(0, 200)).find("error") != std::string::npos)
      events_.push_back({last_time_, std::nullopt, "import.message", std::string(line.text.substr(0, 200))});
    return;
  }
  const auto wanted = layout_->columns.size();
  const bool cut = !line.ended && cells_.size() < wanted;
  cut_off_ = cut_off_ || cut;
  notes_.add(kWrongCells, line.number,
             cut ? fmt::format("cut off after {} of {} cells; not used", cells_.size(), wanted)
                 : fmt::format("{} cells where the table has {}; not used", cells_.size(), wanted));
}

core::Result<void> SmiCsv::take_row(const Line& line) {
  if (!is_reading_row(line)) return {};
  const auto time = layout_->time ? time_of_row(line) : std::optional<std::int64_t>(0);
  if (!time) return {};
  announce();
  static constexpr int kNotWide = -1;
  const std::span<const int> gpus = layout_->gpus.empty() ? std::span(&kNotWide, 1) : std::span(layout_->gpus);
  bool used = false;
  for (const int gpu : gpus) {
    auto device = device_of_row(line, gpu);
    if (!device) return core::fail(device.error());
    if (!*device) continue;
    auto& of = state(**device);
    last_time_ = *time;
    if (!layout_->time && __builtin_mul_overflow(of.rows, options_.interval->count(), &last_time_))
      return core::fail(
          core::Errc::unusable_input,
          fmt::format("line {}: rows this far apart end after all time; --interval is too long", line.number));
    ++of.rows;
    table_.begin_row(**device, last_time_);
    take_cells(line, **device, gpu);
    used = true;
  }
  rows_ += used ? 1 : 0;
  open_ = open_ || used;
  timed_ = timed_ || (used && layout_->time);
  return {};
}

/// A line with the table's number of cells: readings, or something else that is dealt with here.
bool SmiCsv::is_reading_row(const Line& line) {
  if (layout_->foreign) return ++foreign_rows_, false;
  const bool time_fits =
      !layout_->time || parse_time(cells_[*layout_->time], layout_->columns[*layout_->time].meaning.time_unit);
  if (!time_fits && try_header(line)) return false;
  if (!layout_->has_reading) {
    if (!unread_table_)
      unread_table_ = fmt::format("line {}: none of the columns {} holds a GPU reading that is known", layout_->line,
                                  in_quotes(layout_->header));
    return ++other_lines_, false;
  }
  if (layout_->time) return true;
  if (!has_any_value()) {
    if (!try_header(line)) take_stray(line, false);
    return false;
  }
  if (options_.interval) return true;
  if (untimed_rows_++ == 0)
    untimed_line_ = layout_->line, untimed_header_ = layout_->header.empty() ? first_text_ : layout_->header;
  return false;
}

/// Once a table gives its first row: what was not understood of its header.
void SmiCsv::announce() {
  if (announced_) return;
  for (const auto& note : layout_->notes) notes_.add({}, layout_->line, note);
  announced_ = true;
  if (first_table_line_ == 0) first_table_line_ = layout_->line;
}

std::optional<std::int64_t> SmiCsv::time_of_row(const Line& line) {
  const auto& column = layout_->columns[*layout_->time].meaning;
  const auto text = cells_[*layout_->time];
  const auto parsed = parse_time(text, column.time_unit);
  if (!parsed) {
    notes_.add(kNoTime, line.number, fmt::format("cannot read the time {}; not used", in_quotes(text)));
    return std::nullopt;
  }
  const auto time = clock_.place(*parsed, line.number, notes_);
  if (!time)
    notes_.add(kNoTime, line.number,
               fmt::format("the time {} is of another kind than those above; not used", in_quotes(text)));
  return time;
}

Identity SmiCsv::identity_of_row(int wide_gpu) const {
  Identity identity;
  identity.index = wide_gpu;
  for (const auto i : layout_->identity) {
    const auto cell = read_cell(cells_[i]);
    const auto role = layout_->columns[i].meaning.role;
    if (cell.kind == CellKind::missing || cell.kind == CellKind::fault) continue;
    if (role == Role::uuid) identity.uuid = cells_[i];
    if (role == Role::bus_id) identity.bus_id = cells_[i];
    if (role == Role::name) identity.name = cells_[i];
    if (role == Role::host) identity.host = cells_[i];
    if (role != Role::index) continue;
    auto text = cells_[i];
    if (core::to_lower(text.substr(0, 3)) == "gpu") text.remove_prefix(3);
    const auto number = read_cell(core::trim(text));
    const bool fits = number.kind == CellKind::number && number.value >= 0 && number.value < 4096;
    if (fits && wide_gpu < 0) identity.index = static_cast<int>(number.value);
    if (!fits && identity.uuid.empty()) identity.uuid = cells_[i];  // some scripts put the UUID there
  }
  return identity;
}

core::Result<std::optional<std::size_t>> SmiCsv::device_of_row(const Line& line, int wide_gpu) {
  const auto identity = identity_of_row(wide_gpu);
  const bool none = identity.uuid.empty() && identity.bus_id.empty() && identity.name.empty() && identity.index < 0;
  if (layout_->identified && none) {
    notes_.add(kNoDevice, line.number,
               fmt::format("does not say of which GPU it is: {}; not used", in_quotes(line.text)));
    return std::optional<std::size_t>{};
  }
  const auto device = table_.device(identity);
  if (!device)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("line {}: more than {} different GPUs, so {} is no column of GPUs", line.number,
                                  kMaxDevices, in_quotes(layout_->header)));
  return device;
}

SmiCsv::DeviceState& SmiCsv::state(std::size_t device) {
  while (states_.size() <= device) states_.push_back({power_draw_of(table_.about(states_.size()).name)});
  return states_[device];
}

std::string SmiCsv::column_of(std::size_t device, MetricId metric) const {
  if (device < states_.size() && !states_[device].columns[slot(metric)].empty())
    return states_[device].columns[slot(metric)];
  for (const auto& state : states_)
    if (!state.columns[slot(metric)].empty()) return state.columns[slot(metric)];
  return {};
}

void SmiCsv::take_cells(const Line& line, std::size_t device, int wide_gpu) {
  const auto belongs = [&](const ColumnMeaning& meaning) { return meaning.gpu.value_or(-1) == wide_gpu; };
  bool plain_power = false, reasons = false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto& column = layout_->columns[i];
    if (!belongs(column.meaning)) continue;
    const auto role = column.meaning.role;
    plain_power = plain_power || role == Role::plain_power;
    reasons = reasons || role == Role::reason;
    if (role == Role::metric) take_metric(line, device, column, *column.meaning.metric, cells_[i]);
    if (role == Role::fixed && states_[device].rows <= 3) take_fixed(device, column, cells_[i]);
  }
  if (reasons && !table_.has(kReasons)) take_reasons(device, wide_gpu);
  if (!plain_power) return;
  const auto metric = states_[device].power.kind == PowerKind::average ? kPowerAverage : kPowerInstant;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto& column = layout_->columns[i];
    // power.draw.average and .instant say more; power.draw fills only where they are silent.
    if (column.meaning.role == Role::plain_power && belongs(column.meaning) && !table_.has(metric))
      take_metric(line, device, column, metric, cells_[i]);
  }
}

void SmiCsv::take_metric(const Line& line, std::size_t device, const LayoutColumn& column, MetricId metric,
                         std::string_view text) {
  const auto position = static_cast<std::size_t>(&column - layout_->columns.data());
  auto [kind, value, has_unit] = value_of(column, metric, text, decimal_comma());
  units_seen_[position] += has_unit ? 1 : 0;
  // The last cell of a file without a final line end may have lost its end: "12" of "126.96 W".
  if (value && !line.ended && !has_unit && units_seen_[position] > 0 && position + 1 == layout_->columns.size()) {
    notes_.add(kWrongCells, line.number, fmt::format("cut off in the cell {}; taken as missing", in_quotes(text)));
    cut_off_ = true;
    return table_.set(metric, kMissing);
  }
  if (kind == CellKind::fault) report_fault(line, device, text);
  if (kind == CellKind::text)
    notes_.add(kBadCell, line.number,
               fmt::format("{} is no value of {}; taken as missing", in_quotes(text), in_quotes(column.meaning.name)));
  if (value && !is_possible(metric, *value)) {
    notes_.add(
        kImpossible, line.number,
        fmt::format("{} cannot be a value of {}; taken as missing", in_quotes(text), in_quotes(column.meaning.name)));
    value.reset();
  }
  if (!value) return table_.set(metric, kMissing);
  auto& from = states_[device].columns[slot(metric)];
  if (from.empty()) from = column.meaning.name;
  table_.set(metric, std::llround(*value / record::info(metric).step));
}

void SmiCsv::take_reasons(std::size_t device, int wide_gpu) {
  std::int64_t bits = 0;
  bool any = false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto& meaning = layout_->columns[i].meaning;
    if (meaning.role != Role::reason || meaning.gpu.value_or(-1) != wide_gpu) continue;
    const auto word = core::to_lower(cells_[i]);
    const bool active = word == "active";
    any = any || active || word == "not active";
    if (active) bits |= static_cast<std::int64_t>(read_cell(meaning.detail).value);
  }
  if (!any) return;
  table_.set(kReasons, bits);
  states_[device].columns[slot(kReasons)] = "clocks_event_reasons.*";
}

void SmiCsv::take_fixed(std::size_t device, const LayoutColumn& column, std::string_view text) {
  const auto cell = read_cell(text, decimal_comma());
  if (cell.kind == CellKind::missing || cell.kind == CellKind::fault) return;
  auto& about = table_.about(device);
  const std::string key(column.meaning.detail);
  if (about.attributes.contains(key)) return;
  std::string value(text.substr(0, 200));
  if (!column.meaning.unit.empty()) {
    const auto unit = column.meaning.detail.substr(column.meaning.detail.rfind('_') + 1);
    const auto factor =
        cell.unit.empty() || column.fixed_factor ? column.factor : unit_factor(cell.unit, unit).value_or(0);
    if (cell.kind != CellKind::number || factor <= 0 || cell.value < 0 || cell.value * factor > 1e15) return;
    value = fmt::format("{}", cell.value * factor);
  }
  about.attributes.emplace(key, value);
  if (column.meaning.fact.empty()) return;
  record::Fact fact{.name = std::string(column.meaning.fact)};
  fact.subject = !about.uuid.empty() ? about.uuid : fmt::format("gpu {}", std::max(about.index, 0));
  fact.value = value;
  fact.where = record::Where::imported;
  fact.source = fmt::format("{} column {}", name_, column.meaning.name);
  facts_.push_back(std::move(fact));
}

void SmiCsv::report_fault(const Line& line, std::size_t device, std::string_view text) {
  auto& of = state(device);
  constexpr std::size_t kKinds = 8;
  if (of.faults.size() >= kKinds || !of.faults.emplace(text).second) return;
  events_.push_back({last_time_, static_cast<std::uint32_t>(device), "sensor.failed",
                     fmt::format("the GPU answered {} first at line {} of {}", in_quotes(text), line.number, name_)});
}

bool SmiCsv::has_any_value() const {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto& meaning = layout_->columns[i].meaning;
    if (meaning.role != Role::metric && meaning.role != Role::plain_power) continue;
    const auto metric = meaning.metric.value_or(kPowerAverage);
    if (value_of(layout_->columns[i], metric, cells_[i], decimal_comma()).value) return true;
  }
  return false;
}

tl::unexpected<core::Error> SmiCsv::refuse() const {
  const auto refused = [](std::string reason) { return core::fail(core::Errc::unusable_input, std::move(reason)); };
  if (untimed_rows_ > 0)
    return refused(
        fmt::format("line {}: no column of {} holds a time; say how far apart the rows are with --interval, "
                    "e.g. --interval 1s",
                    untimed_line_, in_quotes(untimed_header_)));
  if (unread_table_) return refused(*unread_table_);
  for (const auto& diagnostic : notes_.finish())
    if (diagnostic.line > 0 &&
        (notes_.count(kNoTime) > 0 || notes_.count(kNoDevice) > 0 || notes_.count(kWrongCells) > 0))
      return refused(fmt::format("line {}: {}; no row can be used", diagnostic.line, diagnostic.message));
  if (notes_.count(kLongLine) > 0)
    return refused(fmt::format("line 1: a line of more than {} bytes is no row of a recording", kMaxLineBytes));
  if (first_line_ == 0) return refused("line 1: nothing but empty lines");
  if (has_header_ && layout_ && layout_->columns.size() > 1)
    return refused(fmt::format("line {}: the header {} has no row below it that can be used", layout_->line,
                               in_quotes(layout_->header)));
  return refused(
      fmt::format("line {}: {} is neither header nor row of an nvidia-smi query", first_line_, in_quotes(first_text_)));
}

core::Result<ImportedFile> SmiCsv::finish() {
  const auto column = [this](MetricId metric) { return column_of(0, metric); };
  const auto power_refused = judge_power(table_, column, first_table_line_, notes_);
  ImportedFile imported{.rows = rows_};
  auto& run = imported.run;
  const auto findings = table_.finish(run, clock_.whole_seconds() && timed_);
  const bool any = std::ranges::any_of(run.series, [](const auto& s) { return !s.columns.empty(); });
  if (!any && power_refused)
    return core::fail(core::Errc::unusable_input, fmt::format("line {}: {}", first_table_line_, *power_refused));
  if (!any) {
    for (const auto& diagnostic : notes_.finish())
      if (diagnostic.line > 0)
        return core::fail(core::Errc::unusable_input,
                          fmt::format("line {}: {}; no other reading is left", diagnostic.line, diagnostic.message));
    return core::fail(core::Errc::unusable_input,
                      fmt::format("line {}: {} rows, but not one reading in them", first_table_line_, rows_));
  }
  describe_findings(findings);
  run.events = std::move(events_);
  if (findings.split_into > 0)
    for (auto& event : run.events) event.device.reset();
  run.facts = std::move(facts_);
  describe(run);
  fill_enforced_limit(run);
  return imported;
}

void SmiCsv::describe(record::Run& run) const {
  for (auto& quality : run.quality) {
    const auto column = column_of(record::number(quality.device), quality.metric);
    quality.source = fmt::format("column {} of {}", column, name_);
    describe_power(quality, run.device(quality.device).name, meaning_of(column).role == Role::plain_power);
  }
  run.set(record::meta::kWhere, std::string(name_of(record::Where::imported)));
  run.set(record::meta::kClock, std::string("wall"));
  run.set(record::meta::kZoneKnown, std::string(timed_ && clock_.zone_known() ? "1" : "0"));
  run.set(record::meta::kSource, name_);
  run.set(record::meta::kComplete, std::string(cut_off_ ? "0" : "1"));
  run.set("import_format", std::string("nvidia-smi csv"));
  run.set("import_rows", static_cast<std::int64_t>(rows_));
  if (!timed_ || !clock_.is_absolute()) run.set("import_time", std::string("relative"));
  std::int64_t interval = 0;
  for (const auto& series : run.series) interval = std::max(interval, median_step(series.time_ns));
  if (interval > 0) run.set(record::meta::kInterval, interval);
  for (const auto& device : run.devices)
    if (!device.host.empty()) run.set(record::meta::kHost, device.host);
}

void SmiCsv::describe_findings(const TableFindings& findings) {
  if (findings.out_of_order > 0)
    notes_.note(
        fmt::format("{} rows lie before the row above them in time; they were put in order", findings.out_of_order));
  if (findings.same_time > 0)
    notes_.note(fmt::format("{} rows repeat the time of the row above; {}", findings.same_time,
                            findings.spread ? "they were spread evenly over the second that they share"
                                            : "they were kept a nanosecond apart"));
  if (findings.split_into > 0)
    notes_.note(
        fmt::format("no column says of which GPU a row is, and the rows come in groups of {0}; they are read as {0} "
                    "GPUs in this order",
                    findings.split_into));
  if (foreign_rows_ > 0) notes_.note(fmt::format("{} rows of process and page tables are not read", foreign_rows_));
  if (other_lines_ > 0) notes_.note(fmt::format("{} lines are no rows of GPU readings", other_lines_));
  if (untimed_rows_ > 0) notes_.note(fmt::format("{} rows of a table without time are not read", untimed_rows_));
  if (!timed_) notes_.note("holds no times: rows are placed by --interval, from 1970-01-01 on");
  if (timed_ && options_.interval) notes_.note("has a time column, so --interval is not used");
  if (timed_ && clock_.is_absolute() && !clock_.zone_known())
    notes_.note("writes local time without its zone; it is read as UTC (--utc-offset gives the zone)");
  if (timed_ && !clock_.is_absolute()) notes_.note("holds no dates: its times count from 1970-01-01");
}

}  // namespace

bool may_be_text(const LineReader& lines) {
  if (lines.encoding() != Encoding::bytes) return true;
  const auto control = [](std::string_view bytes) {
    return static_cast<std::size_t>(std::ranges::count_if(bytes, [](char c) {
      return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\x1b';
    }));
  };
  // A text whose tail a crash left as NULs is still text; a binary file shows its bytes from the start.
  return control(lines.head()) * 10 <= lines.head().size() || control(lines.head().substr(0, 64)) == 0;
}

core::Result<ImportedFile> read_smi_csv(LineReader& lines, const std::string& name, const ImportOptions& options,
                                        Diagnostics& diagnostics) {
  return SmiCsv(lines, name, options, diagnostics).read();
}

}  // namespace gradwatt::ingest
