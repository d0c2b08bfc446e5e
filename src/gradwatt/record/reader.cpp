#include "gradwatt/record/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <thread>

#include "gradwatt/record/schema.hpp"

namespace gradwatt::record {
namespace {

using sqlite::Database;
using sqlite::Statement;

/// Runs `each` on every row; false when the table cannot be read.
template <class Each>
bool for_each_row(Database& database, const std::string& sql, Each each) {
  auto statement = database.prepare(sql);
  if (!statement) return false;
  while (statement->next()) each(*statement);
  return !statement->failed();
}

core::Result<void> check_schema(Database& database) {
  std::int64_t application = 0;
  std::int64_t version = 0;
  if (!for_each_row(database, "PRAGMA application_id", [&](const Statement& s) { application = s.integer(0); }) ||
      !for_each_row(database, "PRAGMA user_version", [&](const Statement& s) { version = s.integer(0); }))
    return core::fail(core::Errc::unusable_input, "not a readable SQLite file: " + database.message());
  if (application != schema::kApplicationId)
    return core::fail(core::Errc::unusable_input, "an SQLite file, but not a gradwatt run record");
  if (version > kSchemaVersion)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("written by a newer gradwatt (record schema {}, this program reads up to {})", version,
                                  kSchemaVersion));
  return {};
}

bool read_devices(Database& database, Run& run) {
  const auto add = [&](const Statement& s) {
    const auto id = static_cast<std::size_t>(s.integer(0));
    if (id > 1'000'000) return;
    if (run.devices.size() <= id) run.devices.resize(id + 1);
    auto& device = run.devices[id];
    device.kind = device_kind(s.text(1)).value_or(DeviceKind::node);
    device.uuid = s.text(2);
    device.name = s.text(3);
    device.index = static_cast<int>(s.integer(4));
    device.host = s.text(5);
  };
  const auto add_attribute = [&](const Statement& s) {
    const auto id = static_cast<std::size_t>(s.integer(0));
    if (id < run.devices.size()) run.devices[id].attributes[s.text(1)] = s.text(2);
  };
  return for_each_row(database, "SELECT id,kind,uuid,name,vendor_index,host FROM device ORDER BY id", add) &&
         for_each_row(database, "SELECT device,key,value FROM device_attribute", add_attribute);
}

bool read_quality(Database& database, Run& run) {
  return for_each_row(database, "SELECT * FROM series_quality", [&](const Statement& s) {
    const auto id = static_cast<std::size_t>(s.integer(0));
    if (id >= run.devices.size()) return;
    const auto metric = find_metric(run.devices[id].kind, s.text(1));
    if (!metric) return;
    SeriesQuality q;
    q.device = static_cast<DeviceIndex>(id);
    q.metric = *metric;
    q.how = how_from(s.text(2)).value_or(How::estimated);
    q.where = where_from(s.text(3)).value_or(Where::live);
    q.scope = s.text(4);
    q.source = s.text(5);
    q.cadence_ns = s.integer(6);
    q.sampling = sampling_from(s.text(7)).value_or(Sampling::irregular);
    q.phase_ns = s.integer(8);
    q.duty = s.maybe_real(9);
    q.uncertainty = s.maybe_real(10);
    q.range_low = s.maybe_real(11);
    q.range_high = s.maybe_real(12);
    q.coverage = s.maybe_real(13);
    q.update_ns = s.maybe_integer(14);
    int i = 15;
    for (auto* count : {&q.readings, &q.failed, &q.wraps, &q.resets, &q.backward, &q.stuck, &q.glitches})
      *count = static_cast<std::uint64_t>(s.integer(i++));
    q.note = s.text(i++);
    q.standard_error = s.maybe_real(i);
    run.quality.push_back(std::move(q));
  });
}

bool read_marks(Database& database, Run& run) {
  return for_each_row(database, "SELECT * FROM mark", [&](const Statement& s) {
    Mark m;
    m.rank = static_cast<std::int32_t>(s.integer(0));
    m.kind = mark_kind(s.text(1)).value_or(MarkKind::region);
    m.name = s.text(2);
    m.number = s.integer(3);
    m.begin_ns = s.integer(4);
    m.end_ns = s.integer(5);
    m.samples = s.maybe_integer(6);
    for (std::size_t i = 0; i < kPhases; ++i) m.phase_ns[i] = s.maybe_integer(7 + static_cast<int>(i));
    m.clock = s.text(7 + static_cast<int>(kPhases)) == "host" ? PhaseClock::host : PhaseClock::device_events;
    run.marks.push_back(std::move(m));
  });
}

bool read_rest(Database& database, const LoadOptions& options, Run& run) {
  bool ok = for_each_row(database, "SELECT time_ns,device,kind,text FROM event", [&](const Statement& s) {
    Event event{s.integer(0), std::nullopt, s.text(2), s.text(3)};
    if (!s.is_null(1)) event.device = static_cast<std::uint32_t>(s.integer(1));
    run.events.push_back(std::move(event));
  });
  ok = ok && for_each_row(database, "SELECT name,subject,value,unit,time_ns,how,\"where\",coverage,source FROM fact",
                          [&](const Statement& s) {
                            Fact f;
                            f.name = s.text(0);
                            f.subject = s.text(1);
                            if (s.is_real(2)) {
                              f.value = s.real(2);
                            } else {
                              f.value = s.text(2);
                            }
                            f.unit = s.text(3);
                            f.time_ns = s.maybe_integer(4);
                            f.how = how_from(s.text(5)).value_or(How::estimated);
                            f.where = where_from(s.text(6)).value_or(Where::live);
                            f.coverage = s.maybe_real(7);
                            f.source = s.text(8);
                            run.facts.push_back(std::move(f));
                          });
  if (options.marks) ok = ok && read_marks(database, run);
  if (options.spans)
    ok = ok && for_each_row(database, "SELECT rank,track,kind,begin_ns,end_ns,bytes FROM span", [&](const Statement& s) {
           run.spans.push_back({static_cast<std::int32_t>(s.integer(0)), s.text(1), s.text(2), s.integer(3), s.integer(4),
                                s.maybe_integer(5)});
         });
  return ok;
}

/// The wanted columns of a kind that its table has.
struct WantedColumns {
  std::vector<MetricId> metrics;
  std::string sql;  // SELECT of t_ns, device, values, then raw values
  bool raw = false;
};

WantedColumns wanted_columns(DeviceKind kind, const std::vector<bool>& present, const LoadOptions& options) {
  WantedColumns wanted;
  wanted.raw = options.raw_counters;
  wanted.sql = "SELECT t_ns,device";
  for (std::size_t i = 0; i < present.size(); ++i) {
    const auto metric = metric_at(kind, i);
    const bool asked = !options.metrics || std::ranges::find(*options.metrics, metric) != options.metrics->end();
    if (!present[i] || !asked) continue;
    wanted.metrics.push_back(metric);
    wanted.sql += ',' + info(metric).column();
  }
  if (wanted.raw)
    for (const auto metric : wanted.metrics)
      wanted.sql += ',' + (info(metric).type == MetricType::counter ? info(metric).raw_column() : std::string("NULL"));
  wanted.sql += " FROM " + schema::sample_table(kind);
  return wanted;
}

/// Rows of a sample table between two row ids, as series in the order in which devices appear.
struct Part {
  std::int64_t first = 0, last = 0;
  std::vector<DeviceSeries> series;
  bool ok = false;
};

void read_part(Database& database, const WantedColumns& wanted, std::size_t devices, Part& part) {
  std::vector<int> series_of_device(devices, -1);
  const auto sql = fmt::format("{} WHERE rowid BETWEEN {} AND {}", wanted.sql, part.first, part.last);
  part.ok = for_each_row(database, sql, [&](const Statement& s) {
    const auto id = static_cast<std::size_t>(s.integer(1));
    if (id >= series_of_device.size()) return;
    if (series_of_device[id] < 0) {
      series_of_device[id] = static_cast<int>(part.series.size());
      DeviceSeries series{static_cast<DeviceIndex>(id), {}, {}};
      for (const auto metric : wanted.metrics) series.columns.push_back({metric, {}, {}});
      part.series.push_back(std::move(series));
    }
    auto& series = part.series[static_cast<std::size_t>(series_of_device[id])];
    series.time_ns.push_back(s.integer(0));
    int column = 2;
    for (auto& c : series.columns) c.values.push_back(s.integer_or(column++, kMissing));
    if (!wanted.raw) return;
    for (auto& c : series.columns) {
      if (info(c.metric).type == MetricType::counter) c.raw.push_back(s.integer_or(column, kMissing));
      ++column;
    }
  });
}

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void join_part(Part& part, Run& run) {
  for (auto& series : part.series) {
    const auto same = std::ranges::find(run.series, series.device, &DeviceSeries::device);
    if (same == run.series.end()) {
      run.series.push_back(std::move(series));
      continue;
    }
    append(same->time_ns, series.time_ns);
    for (std::size_t i = 0; i < series.columns.size(); ++i) {
      append(same->columns[i].values, series.columns[i].values);
      append(same->columns[i].raw, series.columns[i].raw);
    }
  }
}

/// Fewer rows are read faster than threads are started.
constexpr std::int64_t kRowsWorthAThread = 50'000;
constexpr std::int64_t kMostReaders = 8;

std::vector<Part> split(std::int64_t rows, bool parallel) {
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  const auto parts = parallel ? std::clamp(rows / kRowsWorthAThread, std::int64_t{1}, std::min(cores, kMostReaders)) : 1;
  std::vector<Part> all(static_cast<std::size_t>(parts));
  for (std::int64_t i = 0; i < parts; ++i)
    all[static_cast<std::size_t>(i)] = {.first = rows * i / parts + 1, .last = rows * (i + 1) / parts};
  return all;
}

bool read_samples(Database& database, DeviceKind kind, const LoadOptions& options, const Reopen& reopen, Run& run) {
  std::vector<bool> present(metric_count(kind), false);
  bool exists = false;
  for_each_row(database, "SELECT name FROM pragma_table_info('" + schema::sample_table(kind) + "')",
               [&](const Statement& s) {
                 exists = true;
                 if (const auto metric = find_metric(kind, s.text(0)); metric && info(*metric).column() == s.text(0))
                   present[slot(*metric)] = true;
               });
  if (!exists) return true;
  const auto wanted = wanted_columns(kind, present, options);
  std::int64_t rows = 0;
  if (!for_each_row(database, "SELECT max(rowid) FROM " + schema::sample_table(kind),
                    [&](const Statement& s) { rows = s.integer(0); }))
    return false;
  auto parts = split(rows, static_cast<bool>(reopen));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < parts.size(); ++i)
      threads.emplace_back([&, i] {
        if (auto own = reopen()) read_part(*own, wanted, run.devices.size(), parts[i]);
      });
    read_part(database, wanted, run.devices.size(), parts[0]);
  }
  for (auto& part : parts) join_part(part, run);
  return std::ranges::all_of(parts, &Part::ok);
}

/// Columns of series that hold nothing at all were only announced.
void drop_empty_columns(Run& run) {
  for (auto& series : run.series)
    std::erase_if(series.columns, [](const Column& c) {
      return std::ranges::all_of(c.values, [](std::int64_t v) { return v == kMissing; });
    });
}

}  // namespace

core::Result<Run> read_database(Database& database, const LoadOptions& options, const Reopen& reopen) {
  if (auto known = check_schema(database); !known) return core::fail(known.error());
  Run run;
  bool ok = for_each_row(database, "SELECT key,value FROM meta",
                         [&](const Statement& s) { run.set(s.text(0), s.text(1)); });
  ok = ok && read_devices(database, run) && read_quality(database, run) && read_rest(database, options, run);
  const bool samples = !options.metrics || !options.metrics->empty();
  for (const auto kind : kDeviceKinds) ok = ok && (!samples || read_samples(database, kind, options, reopen, run));
  if (!ok) return core::fail(core::Errc::unusable_input, "the run record is damaged: " + database.message());
  drop_empty_columns(run);
  return run;
}

}  // namespace gradwatt::record
