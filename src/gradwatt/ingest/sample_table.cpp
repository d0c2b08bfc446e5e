#include "gradwatt/ingest/sample_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gradwatt::ingest {
namespace {

using record::kMissing;
using record::MetricId;
constexpr auto kGpu = record::DeviceKind::gpu;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::string_view kBusId = "pci_bus_id";

/// Readings further apart than this many cadences leave a hole.
constexpr std::int64_t kHole = 3;

void reorder(std::vector<std::int64_t>& values, const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> sorted(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = values[order[i]];
  values = std::move(sorted);
}

/// Several rows in one second of a clock that shows whole seconds were not all taken at its begin.
bool spread_over_seconds(std::vector<std::int64_t>& time) {
  bool spread = false;
  for (std::size_t i = 0; i < time.size();) {
    std::size_t j = i + 1;
    while (j < time.size() && time[j] == time[i]) ++j;
    const auto n = static_cast<std::int64_t>(j - i);
    const auto room = j < time.size() ? std::min(time[j] - time[i], kSecond) : kSecond;
    for (std::int64_t k = 1; k < n; ++k) time[i + static_cast<std::size_t>(k)] += room * k / n;
    spread = spread || n > 1;
    i = j;
  }
  return spread;
}

/// Length of the groups that rows come in, one tick of nvidia-smi on several GPUs a group; 1 where they do not.
std::size_t group_length(const std::vector<std::int64_t>& time) {
  constexpr std::size_t kFewest = 8;  // rows: fewer prove nothing
  if (time.size() < kFewest) return 1;
  const auto [least, most] = [&] {
    std::vector<std::int64_t> steps(time.size());
    std::adjacent_difference(time.begin(), time.end(), steps.begin());
    steps.erase(steps.begin());
    std::ranges::sort(steps);
    return std::pair(steps.front(), steps[steps.size() * 97 / 100]);
  }();
  if (least < 0 || most <= 0) return 1;
  // A tick is read within a fifth of the period; anything slower is no burst.
  const auto new_tick = [&](std::size_t i) { return time[i] - time[i - 1] > most / 5; };
  std::size_t length = 0;
  for (std::size_t begin = 0, i = 1; i <= time.size(); ++i) {
    if (i < time.size() && !new_tick(i)) continue;
    const auto n = i - begin;
    if (length == 0) length = n;
    const bool last = i == time.size();
    if (n != length && !(last && n < length)) return 1;
    begin = i;
  }
  return length >= time.size() ? 1 : length;
}

/// Counters are kept as the total since the first reading; a step back is a new begin.
void count_up(record::Column& column, record::SeriesQuality& quality) {
  column.raw = column.values;
  std::int64_t total = 0;
  std::optional<std::int64_t> last;
  for (auto& value : column.values) {
    if (value == kMissing) continue;
    if (last && value < *last) ++quality.resets;
    // A total past all range is no count; the step is left out.
    std::int64_t next = 0;
    if (last && value > *last && !__builtin_add_overflow(total, value - *last, &next)) total = next;
    last = value;
    value = total;
  }
}

struct Cover {
  std::int64_t cadence = 0;
  std::optional<double> share;
};

/// How regular the readings that came are: time within a hole is not covered.
Cover cover_of(const std::vector<std::int64_t>& time, const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> came;
  came.reserve(time.size());
  for (std::size_t i = 0; i < time.size(); ++i)
    if (values[i] != kMissing) came.push_back(time[i]);
  Cover cover{median_step(came), {}};
  if (cover.cadence == 0) return cover;
  std::int64_t covered = 0;
  for (std::size_t i = 1; i < came.size(); ++i) {
    const auto step = came[i] - came[i - 1];
    covered += step / kHole <= cover.cadence ? step : cover.cadence;
  }
  const auto span = time.back() - time.front();
  if (span > 0) cover.share = std::min(1.0, static_cast<double>(covered) / static_cast<double>(span));
  return cover;
}

record::How how_of(const record::Metric& metric) {
  // Of a gauge, "integrated" says: measured, and energy comes of it by summing.
  return metric.type == record::MetricType::gauge ? record::How::integrated : record::How::counter;
}

}  // namespace

std::int64_t median_step(const std::vector<std::int64_t>& increasing) {
  if (increasing.size() < 2) return 0;
  std::vector<std::int64_t> steps(increasing.size());
  std::adjacent_difference(increasing.begin(), increasing.end(), steps.begin());
  const auto middle = steps.begin() + 1 + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::nth_element(steps.begin() + 1, middle, steps.end());
  return *middle;
}

std::optional<std::size_t> SampleTable::find(const Identity& identity) const {
  const auto differ = [](std::string_view a, std::string_view b) { return !a.empty() && !b.empty() && a != b; };
  const auto same = [](std::string_view a, std::string_view b) { return !a.empty() && a == b; };
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto& known = devices_[i].device;
    const auto bus = known.attributes.find(std::string(kBusId));
    const std::string_view known_bus = bus != known.attributes.end() ? std::string_view(bus->second) : "";
    const bool index_differs = identity.index >= 0 && known.index >= 0 && identity.index != known.index;
    if (differ(identity.uuid, known.uuid) || differ(identity.bus_id, known_bus) || index_differs ||
        differ(identity.host, known.host))
      continue;
    if (same(identity.uuid, known.uuid) || same(identity.bus_id, known_bus)) return i;
    if (identity.index >= 0 && identity.index == known.index) return i;
    const bool nothing_sure = identity.uuid.empty() && identity.bus_id.empty() && identity.index < 0;
    if (nothing_sure && !differ(identity.name, known.name)) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> SampleTable::device(const Identity& identity) {
  key_.clear();
  fmt::format_to(std::back_inserter(key_), "{}\n{}\n{}\n{}\n{}", identity.uuid, identity.bus_id, identity.index,
                 identity.host, identity.name);
  if (const auto it = known_.find(key_); it != known_.end()) return it->second;
  auto found = find(identity);
  if (!found && devices_.size() >= kMaxDevices) return std::nullopt;
  if (!found) {
    found = devices_.size();
    devices_.emplace_back();
    devices_.back().device.kind = kGpu;
  }
  auto& device = devices_[*found].device;
  if (device.uuid.empty()) device.uuid = identity.uuid;
  if (device.name.empty()) device.name = identity.name;
  if (device.host.empty()) device.host = identity.host;
  if (device.index < 0) device.index = identity.index;
  if (!identity.bus_id.empty()) device.attributes.emplace(kBusId, identity.bus_id);
  known_.emplace(key_, *found);
  return *found;
}

void SampleTable::begin_row(std::size_t device, std::int64_t time_ns) {
  current_ = device;
  devices_[device].time.push_back(time_ns);
}

void SampleTable::set(MetricId metric, std::int64_t stored) {
  auto& rows = devices_[current_];
  auto& column = rows.columns[slot(metric)];
  if (stored == kMissing) ++rows.failed[slot(metric)];
  column.resize(rows.time.size(), kMissing);
  column.back() = stored;
}

bool SampleTable::has(MetricId metric) const {
  const auto& rows = devices_[current_];
  const auto& column = rows.columns[slot(metric)];
  return column.size() == rows.time.size() && !column.empty() && column.back() != kMissing;
}

std::vector<std::int64_t> SampleTable::values(MetricId metric) const {
  std::vector<std::int64_t> all;
  for (const auto& rows : devices_)
    for (const auto value : rows.columns[slot(metric)])
      if (value != kMissing) all.push_back(value);
  return all;
}

std::uint64_t SampleTable::drop(MetricId metric) {
  const auto gone = values(metric).size();
  for (auto& rows : devices_) rows.columns[slot(metric)].clear(), rows.failed[slot(metric)] = 0;
  return gone;
}

std::uint64_t SampleTable::drop_above(MetricId metric, std::int64_t stored) {
  std::uint64_t gone = 0;
  for (auto& rows : devices_)
    for (auto& value : rows.columns[slot(metric)])
      if (value > stored) value = kMissing, ++rows.failed[slot(metric)], ++gone;
  return gone;
}

void SampleTable::deal_out_unnamed_rows(TableFindings& findings) {
  if (devices_.size() != 1) return;
  const auto& only = devices_.front().device;
  if (!only.uuid.empty() || only.index >= 0 || only.attributes.contains(std::string(kBusId))) return;
  const auto gpus = group_length(devices_.front().time);
  if (gpus < 2) return;
  findings.split_into = gpus;
  const Rows all = std::move(devices_.front());
  devices_.assign(gpus, {});
  for (std::size_t g = 0; g < gpus; ++g) {
    auto& rows = devices_[g];
    rows.device = all.device;
    rows.device.index = static_cast<int>(g);
    for (std::size_t i = g; i < all.time.size(); i += gpus) rows.time.push_back(all.time[i]);
    for (std::size_t m = 0; m < all.columns.size(); ++m) {
      for (std::size_t i = g; i < all.columns[m].size(); i += gpus) rows.columns[m].push_back(all.columns[m][i]);
      rows.failed[m] = all.failed[m] / gpus;
    }
  }
}

void SampleTable::put_in_order(Rows& rows, bool whole_seconds, TableFindings& findings) {
  auto& time = rows.time;
  for (std::size_t i = 1; i < time.size(); ++i) {
    findings.out_of_order += time[i] < time[i - 1] ? 1 : 0;
    findings.same_time += time[i] == time[i - 1] ? 1 : 0;
  }
  if (!std::ranges::is_sorted(time)) {
    std::vector<std::size_t> order(time.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return time[i]; });
    reorder(time, order);
    for (auto& column : rows.columns)
      if (!column.empty()) reorder(column, order);
  }
  if (whole_seconds) findings.spread = spread_over_seconds(time) || findings.spread;
  for (std::size_t i = 1; i < time.size(); ++i) time[i] = std::max(time[i], time[i - 1] + 1);
}

void SampleTable::add_series(Rows& rows, record::Run& run) {
  const auto index = static_cast<record::DeviceIndex>(run.devices.size());
  record::DeviceSeries series{index, std::move(rows.time), {}};
  for (std::size_t m = 0; m < rows.columns.size(); ++m) {
    auto& values = rows.columns[m];
    const auto present = values.size() - static_cast<std::size_t>(std::ranges::count(values, kMissing));
    if (present == 0) continue;  // never supported here: no series, not a failed one
    const auto metric = record::metric_at(kGpu, m);
    const auto cover = cover_of(series.time_ns, values);
    record::SeriesQuality quality{.device = index, .metric = metric, .how = how_of(info(metric))};
    quality.where = record::Where::imported;
    quality.scope = "gpu";
    quality.cadence_ns = cover.cadence;
    quality.coverage = cover.share;
    quality.sampling = record::Sampling::irregular;
    quality.phase_ns = series.time_ns.front();
    quality.readings = present + rows.failed[m];
    quality.failed = rows.failed[m];
    record::Column column{metric, std::move(values), {}};
    if (info(metric).type == record::MetricType::counter) count_up(column, quality);
    series.columns.push_back(std::move(column));
    run.quality.push_back(std::move(quality));
  }
  run.devices.push_back(std::move(rows.device));
  run.series.push_back(std::move(series));
}

TableFindings SampleTable::finish(record::Run& run, bool whole_seconds) {
  TableFindings findings;
  for (auto& rows : devices_)
    for (auto& column : rows.columns)
      if (!column.empty()) column.resize(rows.time.size(), kMissing);
  // Whole seconds hide the gap between GPUs of one tick.
  if (!whole_seconds) deal_out_unnamed_rows(findings);
  for (auto& rows : devices_) {
    if (rows.time.empty()) continue;
    put_in_order(rows, whole_seconds, findings);
    add_series(rows, run);
  }
  *this = SampleTable{};
  return findings;
}

}  // namespace gradwatt::ingest
