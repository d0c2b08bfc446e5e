#include "gradwatt/ingest/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/fact_join.hpp"
#include "gradwatt/ingest/pci_address.hpp"
#include "gradwatt/ingest/sample_table.hpp"

namespace gradwatt::ingest {
namespace {

using record::DeviceIndex;
using record::kMissing;
using record::Run;

std::string clock_text(std::int64_t ns) { return core::format_utc(core::WallTime(core::Duration(ns))); }

bool overlap(const record::DeviceSeries& a, const record::DeviceSeries& b) {
  if (a.time_ns.empty() || b.time_ns.empty()) return false;
  return a.time_ns.front() <= b.time_ns.back() && b.time_ns.front() <= a.time_ns.back();
}

/// The device of `run` that `device` of another part is.
std::optional<DeviceIndex> same_device(const Run& run, const record::Device& device,
                                       const record::DeviceSeries* series) {
  for (std::size_t i = 0; i < run.devices.size(); ++i) {
    const auto& known = run.devices[i];
    if (known.kind != device.kind || known.host != device.host) continue;
    if (!known.uuid.empty() && !device.uuid.empty()) {
      if (known.uuid == device.uuid) return static_cast<DeviceIndex>(i);
      continue;
    }
    const auto* known_series = run.find_series(static_cast<DeviceIndex>(i));
    const bool apart = series == nullptr || known_series == nullptr || !overlap(*series, *known_series);
    const bool names_differ = !known.name.empty() && !device.name.empty() && known.name != device.name;
    if (known.index == device.index && !names_differ && apart) return static_cast<DeviceIndex>(i);
  }
  return std::nullopt;
}

/// Rows of both in order of time; cells that only one of them has stay missing in the other's rows.
void append_rows(record::DeviceSeries& to, const record::DeviceSeries& from) {
  const auto old_rows = to.size();
  const auto rows = old_rows + from.size();
  to.time_ns.insert(to.time_ns.end(), from.time_ns.begin(), from.time_ns.end());
  for (auto& column : to.columns) {
    column.values.resize(rows, kMissing);
    if (!column.raw.empty()) column.raw.resize(rows, kMissing);
  }
  for (const auto& column : from.columns) {
    auto& target = to.column(column.metric);
    std::ranges::copy(column.values, target.values.begin() + static_cast<std::ptrdiff_t>(old_rows));
    if (column.raw.empty()) continue;
    target.raw.resize(rows, kMissing);
    std::ranges::copy(column.raw, target.raw.begin() + static_cast<std::ptrdiff_t>(old_rows));
  }
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return to.time_ns[i]; });
  const auto sort = [&](std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> sorted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) sorted[i] = values[order[i]];
    values = std::move(sorted);
  };
  sort(to.time_ns);
  for (std::size_t i = 1; i < rows; ++i) to.time_ns[i] = std::max(to.time_ns[i], to.time_ns[i - 1] + 1);
  for (auto& column : to.columns) {
    sort(column.values);
    if (!column.raw.empty()) sort(column.raw);
  }
}

/// A counter of two recordings counts on where the raw values allow it: totals are taken anew from them.
void recount(record::DeviceSeries& series) {
  for (auto& column : series.columns) {
    if (record::info(column.metric).type != record::MetricType::counter || column.raw.empty()) continue;
    std::int64_t total = 0;
    std::optional<std::int64_t> last;
    for (std::size_t i = 0; i < column.raw.size(); ++i) {
      const auto raw = column.raw[i];
      std::int64_t next = 0;
      if (raw != kMissing && last && raw > *last && !__builtin_add_overflow(total, raw - *last, &next)) total = next;
      if (raw != kMissing) last = raw;
      column.values[i] = raw == kMissing ? kMissing : total;
    }
  }
}

void add_quality(Run& run, record::SeriesQuality quality, DeviceIndex device) {
  quality.device = device;
  for (auto& known : run.quality) {
    if (known.device != device || known.metric != quality.metric) continue;
    known.source += " and " + quality.source;
    known.readings += quality.readings, known.failed += quality.failed, known.resets += quality.resets;
    known.cadence_ns = std::max(known.cadence_ns, quality.cadence_ns);
    known.coverage.reset();  // of both together it is not known
    return;
  }
  run.quality.push_back(std::move(quality));
}

struct Span {
  std::int64_t begin, end;
};
std::optional<Span> span_of(const Run& run) {
  const auto extent = run.extent();
  return extent ? std::optional(Span{extent->begin_ns, extent->end_ns}) : std::nullopt;
}

void add_part(Run& run, NamedRun part, std::vector<Diagnostic>& diagnostics) {
  std::vector<DeviceIndex> place(part.run.devices.size());
  std::size_t joined = 0;
  const auto known_devices = run.devices.size();
  for (std::size_t i = 0; i < part.run.devices.size(); ++i) {
    const auto from = static_cast<DeviceIndex>(i);
    auto& device = part.run.devices[i];
    const auto* series = part.run.find_series(from);
    auto same = same_device(run, device, series);
    if (same && record::number(*same) >= known_devices) same.reset();  // two devices of one file stay two
    place[i] = same.value_or(static_cast<DeviceIndex>(run.devices.size()));
    if (!same) run.devices.push_back(std::move(device));
    if (series == nullptr) continue;
    const auto known = std::ranges::find(run.series, place[i], &record::DeviceSeries::device);
    if (known == run.series.end()) {
      run.series.push_back(*series);
      run.series.back().device = place[i];
    } else {
      append_rows(*known, *series);
      recount(*known);
      ++joined;
    }
  }
  if (joined > 0)
    diagnostics.push_back({part.name, 0, fmt::format("{} of its devices are the same as in the files before", joined)});
  for (const auto& quality : part.run.quality) add_quality(run, quality, place[record::number(quality.device)]);
  for (auto& event : part.run.events) {
    if (event.device) event.device = record::number(place[*event.device]);
    run.events.push_back(std::move(event));
  }
  run.marks.insert(run.marks.end(), part.run.marks.begin(), part.run.marks.end());
  run.facts.insert(run.facts.end(), part.run.facts.begin(), part.run.facts.end());
  run.spans.insert(run.spans.end(), part.run.spans.begin(), part.run.spans.end());
}

void say_clock_trouble(const Run& run, const Span& so_far, const NamedRun& part, std::vector<Diagnostic>& diagnostics) {
  const auto span = span_of(part.run);
  if (span && (span->begin > so_far.end || span->end < so_far.begin))
    diagnostics.push_back(
        {part.name, 0,
         fmt::format("does not overlap the files before in time: {} to {}, those {} to {}", clock_text(span->begin),
                     clock_text(span->end), clock_text(so_far.begin), clock_text(so_far.end))});
  if (span && part.run.text(record::meta::kZoneKnown) != run.text(record::meta::kZoneKnown))
    diagnostics.push_back({part.name, 0,
                           "the zone of its times is not known alike with the files before, so their "
                           "clocks may differ by hours; say --utc-offset for those without zone"});
}

/// Facts that know a GPU only by its place on the bus get its UUID where some file gave both.
void name_by_uuid(Run& run) {
  std::map<std::string, std::string> uuids;
  for (const auto& device : run.devices) {
    const auto bus = device.attributes.find("pci_bus_id");
    if (bus == device.attributes.end() || device.uuid.empty()) continue;
    if (auto subject = pci_subject(bus->second); !subject.empty()) uuids.emplace(std::move(subject), device.uuid);
  }
  for (auto& fact : run.facts)
    if (const auto uuid = uuids.find(fact.subject); uuid != uuids.end()) fact.subject = uuid->second;
}

}  // namespace

Run merge(std::vector<NamedRun> parts, std::vector<Diagnostic>& diagnostics) {
  Run run = std::move(parts.front().run);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (const auto so_far = span_of(run)) {
      say_clock_trouble(run, *so_far, parts[i], diagnostics);
    } else {  // facts alone so far: what is known of times comes from this part
      for (const auto& [key, value] : parts[i].run.meta) run.meta.try_emplace(key, value);
    }
    // A log of the job knows when it ran; the recordings beside it do not.
    for (const auto key : {record::meta::kJobBegin, record::meta::kJobEnd})
      if (const auto known = parts[i].run.text(key)) run.meta.try_emplace(std::string(key), *known);
    if (parts[i].run.text(record::meta::kZoneKnown) == "0") run.set(record::meta::kZoneKnown, std::string("0"));
    if (!parts[i].run.complete()) run.set(record::meta::kComplete, std::string("0"));
    run.set(record::meta::kSource, fmt::format("{}, {}", run.text(record::meta::kSource).value_or(""), parts[i].name));
    const auto rows = run.number_of("import_rows").value_or(0) + parts[i].run.number_of("import_rows").value_or(0);
    run.set("import_rows", rows);
    add_part(run, std::move(parts[i]), diagnostics);
  }
  std::ranges::stable_sort(run.events, {}, &record::Event::time_ns);
  name_by_uuid(run);
  if (parts.size() > 1) join_facts(run.facts);
  return run;
}

}  // namespace gradwatt::ingest
