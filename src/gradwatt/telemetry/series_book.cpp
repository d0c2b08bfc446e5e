#include "gradwatt/telemetry/series_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gradwatt::telemetry {
namespace {

using record::info;
using record::MetricType;

bool is_energy(record::MetricId metric) { return info(metric).unit == "j"; }
bool is_power(record::MetricId metric) {
  return info(metric).unit == "w" && info(metric).name.starts_with("power") &&
         info(metric).name.find("limit") == std::string_view::npos;
}

CounterGuard::Limits limits_of(const SeriesSpec& spec) {
  const double step = info(spec.metric).step;
  CounterGuard::Limits limits;
  if (spec.counter_range) limits.range = *spec.counter_range / step;
  if (spec.max_rate) limits.max_per_s = *spec.max_rate / step;
  limits.always_moves = is_energy(spec.metric) && spec.how == record::How::counter;
  return limits;
}

std::string label_of(const record::Device& device) {
  return device.index >= 0 ? fmt::format("{} {}", record::name_of(device.kind), device.index) : device.uuid;
}

/// One event of a kind a series tells the story; the counts are in its quality.
constexpr int kEventsOfAKind = 3;

}  // namespace

void SeriesBook::add_device(record::DeviceIndex index, const SensorDevice& device) {
  Book book{index, device.device.kind, {}, {}, label_of(device.device), false};
  book.hot.resize(record::metric_count(book.kind));
  for (const auto& spec : device.series) {
    auto& hot = book.hot[record::slot(spec.metric)];
    hot.announced = true;
    hot.place = static_cast<std::uint32_t>(book.series.size());
    if (info(spec.metric).type == MetricType::counter) hot.guard.emplace(limits_of(spec));
    Series series;
    series.spec = spec;
    auto& q = series.quality;
    q.device = index;
    q.metric = spec.metric;
    q.how = spec.how;
    q.where = spec.where;
    q.scope = spec.scope;
    q.source = spec.source;
    q.duty = spec.duty;
    q.uncertainty = spec.uncertainty;
    q.range_low = spec.range_low;
    q.range_high = spec.range_high;
    q.note = spec.note;
    book.series.push_back(std::move(series));
  }
  books_.push_back(std::move(book));
}

SeriesBook::Series* SeriesBook::Book::find(record::MetricId metric) {
  if (info(metric).kind != kind) return nullptr;
  const auto& row = hot[record::slot(metric)];
  return row.announced ? &series[row.place] : nullptr;
}

void SeriesBook::say(const Book& book, Series& series, core::Instant when, const std::string& kind, std::string text,
                     Outcome& outcome) {
  if (++series.events_said[kind] > kEventsOfAKind) return;
  outcome.events.push_back({core::to_ns(when), record::number(book.index), kind, std::move(text)});
}

void SeriesBook::enter_counter(Book& book, Hot& hot, record::MetricId metric, std::int64_t stored, core::Instant when,
                               record::Row& row, Outcome& outcome) {
  using O = CounterGuard::Outcome;
  const auto place = record::slot(metric);
  const auto result = hot.guard->advance(when, stored == record::kMissing ? std::nullopt : std::optional(stored));
  row.raw[place] = stored;
  const bool valid = result != O::failed && result != O::held && result != O::stuck;
  row.values[place] = valid ? hot.guard->total() : record::kMissing;
  if (result != O::failed) ++hot.readings;
  const bool stuck_already = std::exchange(hot.stuck_said, result == O::stuck);
  if (result == O::advanced || result == O::first || result == O::failed || result == O::held) return;
  auto& series = book.series[hot.place];
  auto& q = series.quality;
  const auto tell = [&](std::uint64_t& count, const char* kind, std::string_view what) {
    ++count;
    say(book, series, when, kind, fmt::format("{}: {} {}", book.label, info(metric).key(), what), outcome);
  };
  if (result == O::wrapped) tell(q.wraps, "counter.wrap", "passed the end of its range; corrected");
  if (result == O::reset) tell(q.resets, "counter.reset", "began again; what was used in between is not counted");
  if (result == O::backward) tell(q.backward, "counter.backward", "went back a little; the step counts as nothing");
  if (result == O::glitch) tell(q.glitches, "counter.glitch", "showed an impossible value for a moment; rejected");
  if (result == O::stuck && !stuck_already)
    tell(q.stuck, "counter.stuck", "stands still; its readings are not used until it moves");
}

void SeriesBook::enter_cell(const Reading::Cell& cell, core::Instant when, record::Row& row, Outcome& outcome) {
  auto& book = books_[cell.device];
  if (info(cell.metric).kind != book.kind) return;
  auto& hot = book.hot[record::slot(cell.metric)];
  if (!hot.announced) return;  // nobody could say where it came from
  if (hot.guard) return enter_counter(book, hot, cell.metric, cell.stored, when, row, outcome);
  row.values[record::slot(cell.metric)] = cell.stored;
  if (cell.stored == record::kMissing) return;
  const auto value = static_cast<double>(cell.stored);
  if (hot.readings > 0) hot.squared_steps += (value - hot.last) * (value - hot.last);
  hot.last = value;
  ++hot.readings;
}

void SeriesBook::enter_failure(const Reading::Failure& failure, core::Instant when, Outcome& outcome) {
  if (failure.device >= books_.size()) return;
  auto& book = books_[failure.device];
  if (!failure.metric) {
    if (std::exchange(book.lost, true)) return;
    outcome.events.push_back({core::to_ns(when), record::number(book.index), "sensor.lost",
                              fmt::format("{} is lost for the rest of the run: {}", book.label, failure.reason)});
    return;
  }
  auto* found = book.find(*failure.metric);
  if (found == nullptr) return;
  auto& series = *found;
  const auto key = info(*failure.metric).key();
  if (failure.lost) {
    if (std::exchange(series.lost, true)) return;
    series.quality.note += (series.quality.note.empty() ? "lost: " : "; lost: ") + failure.reason;
    return say(book, series, when, "sensor.series-lost",
               fmt::format("{}: {} is not available any more: {}", book.label, key, failure.reason), outcome);
  }
  ++series.quality.failed;
  if (!std::exchange(series.failure_said, true))
    say(book, series, when, "sensor.failed",
        fmt::format("{}: reading {} failed: {}", book.label, key, failure.reason), outcome);
}

SeriesBook::Outcome SeriesBook::enter(const Reading& reading) {
  Outcome outcome;
  std::vector<std::optional<std::size_t>> row_of(books_.size());
  std::vector<core::Instant> stamp(books_.size(), reading.begin());
  for (const auto& [device, when] : reading.stamps())
    if (device < stamp.size()) stamp[device] = when;
  for (const auto& cell : reading.cells()) {
    if (cell.device >= books_.size()) continue;
    auto& place = row_of[cell.device];
    if (!place) {
      place = outcome.rows.size();
      const auto& book = books_[cell.device];
      outcome.rows.push_back(record::empty_row(book.index, book.kind, core::to_ns(stamp[cell.device])));
    }
    enter_cell(cell, stamp[cell.device], outcome.rows[*place], outcome);
  }
  for (const auto& failure : reading.failures())
    if (failure.device < stamp.size()) enter_failure(failure, stamp[failure.device], outcome);
  enter_notes(reading, outcome);
  return outcome;
}

SeriesBook::Outcome SeriesBook::enter_losses(const Reading& reading) {
  Outcome outcome;
  for (const auto& failure : reading.failures())
    if (failure.lost) enter_failure(failure, reading.begin(), outcome);
  enter_notes(reading, outcome);
  return outcome;
}

void SeriesBook::enter_notes(const Reading& reading, Outcome& outcome) const {
  for (const auto& note : reading.events()) {
    std::optional<std::uint32_t> device;
    if (note.device && *note.device < books_.size()) device = record::number(books_[*note.device].index);
    outcome.events.push_back({core::to_ns(reading.begin()), device, note.kind, note.text});
  }
}

void SeriesBook::set_update_period(std::size_t device, record::MetricId metric, core::Duration period) {
  if (device >= books_.size()) return;
  if (auto* series = books_[device].find(metric)) series->quality.update_ns = period.count();
}

std::vector<record::SeriesQuality> SeriesBook::quality(const TickSchedule& schedule) const {
  std::vector<record::SeriesQuality> all;
  for (const auto& book : books_) {
    for (const auto& series : book.series) {
      auto q = series.quality;
      const auto& hot = book.hot[record::slot(q.metric)];
      q.readings = hot.readings;
      if (is_power(q.metric) && schedule.sampling() == record::Sampling::stratified && hot.readings > 1)
        q.standard_error = info(q.metric).step * std::sqrt(hot.squared_steps / 2) / static_cast<double>(hot.readings - 1);
      q.cadence_ns = std::max(series.spec.cadence, schedule.interval()).count();
      q.sampling = schedule.sampling();
      q.phase_ns = core::to_ns(schedule.origin());
      if (q.readings + q.failed > 0)
        q.coverage = static_cast<double>(q.readings) / static_cast<double>(q.readings + q.failed);
      all.push_back(std::move(q));
    }
  }
  return all;
}

bool SeriesBook::must_integrate() const {
  return std::ranges::any_of(books_, [](const Book& book) {
    const auto any = [&](auto matches) {
      return std::ranges::any_of(book.series, [&](const Series& series) {
        return matches(series.spec.metric) && series.spec.how != record::How::modelled;
      });
    };
    return any(is_power) && !any(is_energy);
  });
}

}  // namespace gradwatt::telemetry
