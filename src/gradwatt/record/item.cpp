#include "gradwatt/record/item.hpp"

#include <algorithm>

namespace gradwatt::record {
namespace {

void add_row(const Row& row, Run& run) {
  auto it = std::ranges::find(run.series, row.device, &DeviceSeries::device);
  if (it == run.series.end()) it = run.series.insert(run.series.end(), DeviceSeries{row.device, {}, {}});
  it->time_ns.push_back(row.time_ns);
  for (auto& column : it->columns) {
    column.values.push_back(row.values[slot(column.metric)]);
    if (!column.raw.empty() || it->time_ns.size() == 1) column.raw.push_back(row.raw[slot(column.metric)]);
  }
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const MetricId metric = metric_at(row.kind, i);
    if (row.values[i] == kMissing || it->find(metric) != nullptr) continue;
    it->column(metric).values.back() = row.values[i];
  }
}

struct Joiner {
  Run& run;
  void operator()(const Row& row) const { add_row(row, run); }
  void operator()(const Mark& mark) const { run.marks.push_back(mark); }
  void operator()(const Event& event) const { run.events.push_back(event); }
  void operator()(const Fact& fact) const { run.facts.push_back(fact); }
  void operator()(const Span& span) const { run.spans.push_back(span); }
  void operator()(const SeriesQuality& quality) const {
    const auto same = std::ranges::find_if(run.quality, [&](const SeriesQuality& q) {
      return q.device == quality.device && q.metric == quality.metric;
    });
    if (same != run.quality.end()) {
      *same = quality;
    } else {
      run.quality.push_back(quality);
    }
  }
  void operator()(const DeviceItem& item) const {
    if (run.devices.size() <= number(item.index)) run.devices.resize(number(item.index) + 1);
    run.devices[number(item.index)] = item.device;
  }
  void operator()(const MetaItem& item) const { run.set(item.key, item.value); }
};

}  // namespace

void apply(const Item& item, Run& run) { std::visit(Joiner{run}, item); }

}  // namespace gradwatt::record
