#include "gradwatt/ingest/smi_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gradwatt/ingest/power_series.hpp"

namespace gradwatt::ingest {
namespace {

using record::MetricId;

core::Error unusable(std::string reason) { return {core::Errc::unusable_input, std::move(reason)}; }

/// "line 7: …" of the first line that something was wrong with.
std::optional<std::string> first_trouble(const Diagnostics& notes) {
  for (const auto& diagnostic : notes.finish())
    if (diagnostic.line > 0) return fmt::format("line {}: {}", diagnostic.line, diagnostic.message);
  return std::nullopt;
}

core::Error no_reading_left(const SmiTally& tally, const std::optional<std::string>& power_refused,
                            const Diagnostics& notes) {
  if (power_refused) return unusable(fmt::format("line {}: {}", tally.first_table_line, *power_refused));
  if (const auto reason = first_trouble(notes)) return unusable(*reason + "; no other reading is left");
  return unusable(fmt::format("line {}: {} rows, but not one reading in them", tally.first_table_line, tally.rows));
}

void describe(record::Run& run, const SmiReadings& readings, const SmiFile& file) {
  const auto& [name, options, clock, tally] = file;
  for (auto& quality : run.quality) {
    const auto column = readings.column_of(record::number(quality.device), quality.metric);
    quality.source = fmt::format("column {} of {}", column, name);
    describe_power(quality, run.device(quality.device).name, meaning_of(column).role == Role::plain_power);
  }
  run.set(record::meta::kWhere, std::string(name_of(record::Where::imported)));
  run.set(record::meta::kClock, std::string("wall"));
  run.set(record::meta::kZoneKnown, std::string(tally.timed && clock.zone_known() ? "1" : "0"));
  run.set(record::meta::kSource, name);
  run.set(record::meta::kComplete, std::string(tally.cut_off || readings.cut_off() ? "0" : "1"));
  run.set("import_format", std::string("nvidia-smi csv"));
  run.set("import_rows", static_cast<std::int64_t>(tally.rows));
  if (!tally.timed || !clock.is_absolute()) run.set("import_time", std::string("relative"));
  std::int64_t interval = 0;
  for (const auto& series : run.series) interval = std::max(interval, median_step(series.time_ns));
  if (interval > 0) run.set(record::meta::kInterval, interval);
  for (const auto& device : run.devices)
    if (!device.host.empty()) run.set(record::meta::kHost, device.host);
}

void note_order(const TableFindings& findings, Diagnostics& notes) {
  if (findings.out_of_order > 0)
    notes.note(
        fmt::format("{} rows lie before the row above them in time; they were put in order", findings.out_of_order));
  if (findings.same_time > 0)
    notes.note(fmt::format("{} rows repeat the time of the row above; {}", findings.same_time,
                           findings.spread ? "they were spread evenly over the second that they share"
                                           : "they were kept a nanosecond apart"));
  if (findings.split_into > 0)
    notes.note(
        fmt::format("no column says of which GPU a row is, and the rows come in groups of {0}; they are read as {0} "
                    "GPUs in this order",
                    findings.split_into));
}

void note_whole_file(const SmiFile& file, Diagnostics& notes) {
  const auto& [name, options, clock, tally] = file;
  if (tally.foreign_rows > 0)
    notes.note(fmt::format("{} rows of process and page tables are not read", tally.foreign_rows));
  if (tally.other_lines > 0) notes.note(fmt::format("{} lines are no rows of GPU readings", tally.other_lines));
  if (tally.untimed_rows > 0)
    notes.note(fmt::format("{} rows of a table without time are not read", tally.untimed_rows));
  if (!tally.timed) notes.note("holds no times: rows are placed by --interval, from 1970-01-01 on");
  if (tally.timed && options.interval) notes.note("has a time column, so --interval is not used");
  if (tally.timed && clock.is_absolute() && !clock.zone_known())
    notes.note("writes local time without its zone; it is read as UTC (--utc-offset gives the zone)");
  if (tally.timed && !clock.is_absolute()) notes.note("holds no dates: its times count from 1970-01-01");
}

}  // namespace

core::Result<ImportedFile> make_run(SmiReadings& readings, const SmiFile& file, Diagnostics& notes) {
  const auto& tally = file.tally;
  const auto column = [&](MetricId metric) { return readings.column_of(0, metric); };
  const auto power_refused = judge_power(readings.table(), column, tally.first_table_line, notes);
  ImportedFile imported{.rows = tally.rows};
  const auto findings = readings.finish(imported.run, file.clock.whole_seconds() && tally.timed);
  const bool any = std::ranges::any_of(imported.run.series, [](const auto& s) { return !s.columns.empty(); });
  if (!any) return core::fail(no_reading_left(tally, power_refused, notes));
  note_order(findings, notes);
  note_whole_file(file, notes);
  describe(imported.run, readings, file);
  fill_enforced_limit(imported.run);
  return imported;
}

core::Error refusal_of(const FirstLook& first, const std::optional<Layout>& layout, const SmiTally& tally,
                       const Diagnostics& notes) {
  if (tally.untimed_rows > 0)
    return unusable(
        fmt::format("line {}: no column of {} holds a time; say how far apart the rows are with --interval, "
                    "e.g. --interval 1s",
                    tally.untimed_line, in_quotes(tally.untimed_header)));
  if (tally.unread_table) return unusable(*tally.unread_table);
  const auto met = [&](std::string_view kind) { return notes.count(kind) > 0; };
  if (met(trouble::kNoTime) || met(trouble::kNoDevice) || met(trouble::kWrongCells))
    if (const auto reason = first_trouble(notes)) return unusable(*reason + "; no row can be used");
  if (met(trouble::kLongLine))
    return unusable(fmt::format("line 1: a line of more than {} bytes is no row of a recording", kMaxLineBytes));
  if (first.line == 0) return unusable("line 1: nothing but empty lines");
  if (first.has_header && layout && layout->columns.size() > 1)
    return unusable(fmt::format("line {}: the header {} has no row below it that can be used", layout->line,
                                in_quotes(layout->header)));
  return unusable(
      fmt::format("line {}: {} is neither header nor row of an nvidia-smi query", first.line, in_quotes(first.text)));
}

}  // namespace gradwatt::ingest
