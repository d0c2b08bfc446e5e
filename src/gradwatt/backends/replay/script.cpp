#include "gradwatt/backends/replay/script.hpp"

#include <cassert>
#include <cmath>

namespace gradwatt::replay {
namespace {

using record::DeviceKind;
using record::MetricId;

std::int64_t microjoules(units::Energy energy) { return std::llround(energy.si() * 1e6); }

/// The kind's metric of that name; a GPU's plain power is its average.
std::optional<MetricId> metric_of(DeviceKind kind, std::string_view name) {
  if (kind == DeviceKind::gpu && name == "power") name = "power_avg";
  return record::find_metric(kind, name);
}

void add_constant(record::DeviceSeries& series, std::optional<MetricId> metric, double value) {
  if (!metric) return;
  const auto stored = std::llround(value / record::info(*metric).step);
  series.column(*metric).values.assign(series.size(), stored);
}

}  // namespace

Script::Script(core::Duration length, core::Duration step) : length_(length), step_(step) {
  assert(length.count() > 0 && step.count() > 0);
}

record::DeviceIndex Script::add(ScriptDevice device) {
  assert(metric_of(device.kind, "energy") && metric_of(device.kind, "power"));
  devices_.push_back(std::move(device));
  return static_cast<record::DeviceIndex>(devices_.size() - 1);
}

record::DeviceSeries Script::series_of(std::size_t device) const {
  const auto& script = devices_[device];
  record::DeviceSeries series{static_cast<record::DeviceIndex>(device), {}, {}};
  for (auto t = core::Duration(0); t < length_; t += step_) series.time_ns.push_back(t.count());
  series.time_ns.push_back(length_.count());
  if (script.energy_counter) {
    auto& energy = series.column(*metric_of(script.kind, "energy"));
    for (std::size_t i = 0; i < series.size(); ++i)
      energy.values[i] = microjoules(script.wave.until(core::Duration(series.time_ns[i])));
    energy.raw = energy.values;
    for (auto& raw : energy.raw) raw += script.counter_begin_uj;
  }
  if (script.power) {
    auto& power = series.column(*metric_of(script.kind, "power"));
    for (std::size_t i = 0; i < series.size(); ++i) {
      const core::Duration begin(series.time_ns[i]);
      const auto end = i + 1 < series.size() ? core::Duration(series.time_ns[i + 1]) : begin;
      const auto mean =
          end > begin ? (script.wave.until(end) - script.wave.until(begin)) / (end - begin) : script.wave.at(begin);
      power.values[i] = std::llround(mean.si() * 1e3);
    }
  }
  if (script.limit) add_constant(series, metric_of(script.kind, "power_limit_enforced"), script.limit->si());
  if (script.utilization_pct) add_constant(series, metric_of(script.kind, "utilization"), *script.utilization_pct);
  return series;
}

record::Run Script::build() const {
  record::Run run;
  run.set(record::meta::kWhere, std::string(name_of(record::Where::simulated)));
  run.set(record::meta::kClock, std::string("monotonic"));
  run.set(record::meta::kComplete, std::string("1"));
  run.set(record::meta::kJobBegin, std::int64_t{0});
  run.set(record::meta::kJobEnd, length_.count());
  run.set(record::meta::kInterval, step_.count());
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const auto& script = devices_[i];
    run.devices.push_back({script.kind, script.uuid, script.name, script.index, "", {}});
    run.series.push_back(series_of(i));
    for (const auto& column : run.series.back().columns) {
      const bool counter = record::info(column.metric).type == record::MetricType::counter;
      record::SeriesQuality quality{.device = static_cast<record::DeviceIndex>(i), .metric = column.metric};
      quality.how = counter ? record::How::counter : record::How::integrated;
      quality.where = record::Where::simulated;
      quality.scope = name_of(script.kind);
      quality.source = "script";
      quality.cadence_ns = step_.count();
      quality.readings = column.values.size();
      run.quality.push_back(std::move(quality));
    }
  }
  return run;
}

std::int64_t Script::energy_uj(record::DeviceIndex device) const {
  return microjoules(devices_[record::number(device)].wave.until(length_));
}

units::Energy Script::energy(record::DeviceIndex device) const {
  return units::microjoules(static_cast<double>(energy_uj(device)));
}

units::Energy Script::total_energy() const {
  units::Energy sum;
  for (std::size_t i = 0; i < devices_.size(); ++i) sum += energy(static_cast<record::DeviceIndex>(i));
  return sum;
}

}  // namespace gradwatt::replay
