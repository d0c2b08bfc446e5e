#include "gradwatt/ingest/smi_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/csv_line.hpp"
#include "gradwatt/ingest/file_clock.hpp"
#include "gradwatt/ingest/smi_first_look.hpp"
#include "gradwatt/ingest/smi_layout.hpp"
#include "gradwatt/ingest/smi_readings.hpp"
#include "gradwatt/ingest/smi_row.hpp"
#include "gradwatt/ingest/smi_run.hpp"
#include "gradwatt/ingest/smi_tally.hpp"

namespace gradwatt::ingest {
namespace {

/// Walks through the lines: which are headers, which rows of the table below the last header, which neither.
class SmiCsv {
 public:
  SmiCsv(LineReader& lines, const std::string& name, const ImportOptions& options, Diagnostics& diagnostics)
      : lines_(lines), name_(name), options_(options), notes_(diagnostics), clock_(options), readings_(name, notes_) {}

  core::Result<ImportedFile> read();

 private:
  // One line.
  enum class Fit { row, other, broken };
  core::Result<void> take_line(const Line& line);
  [[nodiscard]] Fit split(const Line& line);
  bool try_header(const Line& line);
  void take_stray(const Line& line, bool broken_row);
  void use(Layout layout);

  // One line that has the table's number of cells.
  core::Result<void> take_row(const Line& line);
  bool is_reading_row(const Line& line);
  [[nodiscard]] SmiRow row_of(const Line& line) const { return {*layout_, cells_, line.number, line.ended}; }
  void announce();
  std::optional<std::int64_t> time_of_row(const Line& line);
  core::Result<std::int64_t> time_by_interval(const Line& line, std::size_t device);
  core::Result<std::optional<std::size_t>> device_of_row(const Line& line, int wide_gpu);

  LineReader& lines_;
  const std::string& name_;
  const ImportOptions& options_;
  Diagnostics& notes_;
  FileClock clock_;
  SmiReadings readings_;
  FirstLook first_;
  SmiTally tally_;

  std::optional<Layout> layout_;
  bool announced_ = false;  // the layout's notes were given
  std::vector<std::string_view> cells_;
  std::vector<std::string> scratch_;
  bool open_ = false;  // a row of the table came, and no foreign text behind an empty line since
  bool blank_before_ = false;
};

core::Result<ImportedFile> SmiCsv::read() {
  first_ = look_through(lines_, name_, options_, notes_);
  tally_.unread_table = first_.unread_table;
  if (first_.layout) use(std::move(*first_.layout));
  lines_.rewind();
  while (const auto line = lines_.next())
    if (auto taken = take_line(*line); !taken) return core::fail(taken.error());
  if (lines_.failure())
    return core::fail(core::Errc::io, fmt::format("cannot be read to its end: {}", *lines_.failure()));
  if (tally_.rows == 0) return core::fail(refusal_of(first_, layout_, tally_, notes_));
  return make_run(readings_, {name_, options_, clock_, tally_}, notes_);
}

void SmiCsv::use(Layout layout) {
  layout_ = std::move(layout);
  announced_ = false;
  readings_.begin_table(*layout_);
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
    notes_.add(trouble::kLongLine, line.number, fmt::format("longer than {} bytes; not read", kMaxLineBytes));
    ++tally_.other_lines;
    return {};
  }
  if (line.had_nul)
    notes_.add(trouble::kNul, line.number, "holds NUL bytes, as after a crash of the host; they are taken out");
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
  ++tally_.other_lines;
  if (!open_ && first_.has_header) return;
  if (!broken_row) {
    notes_.add(trouble::kNotUnderstood, line.number, fmt::format("no row of the table: {}", in_quotes(line.text)));
    if (open_ && core::to_lower(line.text.substr(0, 200)).find("error") != std::string::npos)
      readings_.take_message(line.text);
    return;
  }
  const auto wanted = layout_->columns.size();
  const bool cut = !line.ended && cells_.size() < wanted;
  tally_.cut_off = tally_.cut_off || cut;
  notes_.add(trouble::kWrongCells, line.number,
             cut ? fmt::format("cut off after {} of {} cells; not used", cells_.size(), wanted)
                 : fmt::format("{} cells where the table has {}; not used", cells_.size(), wanted));
}

core::Result<void> SmiCsv::take_row(const Line& line) {
  if (!is_reading_row(line)) return {};
  const auto time = layout_->time ? time_of_row(line) : std::optional<std::int64_t>(0);
  if (!time) return {};
  announce();
  const std::span<const int> gpus = layout_->gpus.empty() ? std::span(&kNotWide, 1) : std::span(layout_->gpus);
  bool used = false;
  for (const int gpu : gpus) {
    const auto device = device_of_row(line, gpu);
    if (!device) return core::fail(device.error());
    if (!*device) continue;
    const auto at = layout_->time ? core::Result<std::int64_t>(*time) : time_by_interval(line, **device);
    if (!at) return core::fail(at.error());
    readings_.take(row_of(line), **device, gpu, *at);
    used = true;
  }
  tally_.rows += used ? 1 : 0;
  open_ = open_ || used;
  tally_.timed = tally_.timed || (used && layout_->time);
  return {};
}

/// A line with the table's number of cells: readings, or something else that is dealt with here.
bool SmiCsv::is_reading_row(const Line& line) {
  if (layout_->foreign) return ++tally_.foreign_rows, false;
  const bool time_fits =
      !layout_->time || parse_time(cells_[*layout_->time], layout_->columns[*layout_->time].meaning.time_unit);
  if (!time_fits && try_header(line)) return false;
  if (!layout_->has_reading) {
    if (!tally_.unread_table)
      tally_.unread_table = fmt::format("line {}: none of the columns {} holds a GPU reading that is known",
                                        layout_->line, in_quotes(layout_->header));
    return ++tally_.other_lines, false;
  }
  if (layout_->time) return true;
  if (!has_any_value(row_of(line))) {
    if (!try_header(line)) take_stray(line, false);
    return false;
  }
  if (options_.interval) return true;
  if (tally_.untimed_rows++ == 0) {
    tally_.untimed_line = layout_->line;
    tally_.untimed_header = layout_->header.empty() ? first_.text : layout_->header;
  }
  return false;
}

/// Once a table gives its first row: what was not understood of its header.
void SmiCsv::announce() {
  if (announced_) return;
  for (const auto& note : layout_->notes) notes_.add({}, layout_->line, note);
  announced_ = true;
  if (tally_.first_table_line == 0) tally_.first_table_line = layout_->line;
}

std::optional<std::int64_t> SmiCsv::time_of_row(const Line& line) {
  const auto& column = layout_->columns[*layout_->time].meaning;
  const auto text = cells_[*layout_->time];
  const auto parsed = parse_time(text, column.time_unit);
  if (!parsed) {
    notes_.add(trouble::kNoTime, line.number, fmt::format("cannot read the time {}; not used", in_quotes(text)));
    return std::nullopt;
  }
  const auto time = clock_.place(*parsed, line.number, notes_);
  if (!time)
    notes_.add(trouble::kNoTime, line.number,
               fmt::format("the time {} is of another kind than those above; not used", in_quotes(text)));
  return time;
}

core::Result<std::int64_t> SmiCsv::time_by_interval(const Line& line, std::size_t device) {
  std::int64_t time = 0;
  if (__builtin_mul_overflow(readings_.rows(device), options_.interval->count(), &time))
    return core::fail(
        core::Errc::unusable_input,
        fmt::format("line {}: rows this far apart end after all time; --interval is too long", line.number));
  return time;
}

core::Result<std::optional<std::size_t>> SmiCsv::device_of_row(const Line& line, int wide_gpu) {
  const auto identity = identity_of(row_of(line), wide_gpu);
  const bool none = identity.uuid.empty() && identity.bus_id.empty() && identity.name.empty() && identity.index < 0;
  if (layout_->identified && none) {
    notes_.add(trouble::kNoDevice, line.number,
               fmt::format("does not say of which GPU it is: {}; not used", in_quotes(line.text)));
    return std::optional<std::size_t>{};
  }
  const auto device = readings_.device(identity);
  if (!device)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("line {}: more than {} different GPUs, so {} is no column of GPUs", line.number,
                                  kMaxDevices, in_quotes(layout_->header)));
  return device;
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
