#include "gradwatt/backends/nvml/series_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradwatt/backends/nvml/metrics.hpp"
#include "gradwatt/backends/nvml/return_code.hpp"

namespace gradwatt::nvml {
namespace {

/// Steady-state error of NVIDIA's power sensors against external meters (arXiv 2312.02741): mostly within 5 %.
constexpr double kSensorUncertainty = 0.05;
/// A time counter gains at most one second a second; the rest is slack for uneven update steps.
constexpr double kHeldRate = 1.5;
/// More than any GPU's links carry in one direction (NVLink 6: 1.8 TB/s).
constexpr double kNvlinkBytesPerSecond = 4e12;
/// Below this interval two ticks can be closer than GPM's gap: the series is then said to be slower than the ticks.
constexpr core::Duration kGpmEveryTick = std::chrono::milliseconds(250);
constexpr core::Duration kGpmCadence = std::chrono::milliseconds(200);

constexpr std::string_view kSharedNote = "of the whole GPU, shared with its other MIG slices";
constexpr std::string_view kCounterNote =
    "whether the counter sees all of the time between two power samples is not stated by the vendor";

bool is_power(record::MetricId metric) {
  const auto& row = record::info(metric);
  return row.unit == "w" && row.name.starts_with("power_") && !row.name.starts_with("power_limit");
}

/// Values by which a driver says "no such sensor" while it returns success.
bool means_absent(record::MetricId metric, std::int64_t stored) {
  return (metric == metric::kTemperatureMemory && stored == 0) ||
         (metric == metric::kPerformanceState && stored == kPerformanceStateUnknown);
}

std::optional<double> ceiling_of(record::MetricId metric, const CounterCeilings& ceilings) {
  if (metric == metric::kEnergy) return ceilings.energy_w;
  if (metric == metric::kEnergyModule) return ceilings.module_energy_w;
  if (metric == metric::kPcieTx || metric == metric::kPcieRx) return ceilings.pcie_bytes;
  if (metric == metric::kNvlinkTx || metric == metric::kNvlinkRx) return kNvlinkBytesPerSecond;
  if (record::info(metric).name.starts_with("held_")) return kHeldRate;
  return std::nullopt;
}

void add_note(std::string& notes, std::string_view note) {
  if (note.empty()) return;
  if (!notes.empty()) notes += "; ";
  notes += note;
}

telemetry::SeriesSpec spec_for(record::MetricId metric, std::string_view covers, std::string_view source,
                               const ReaderTarget& target) {
  telemetry::SeriesSpec spec;
  spec.metric = metric;
  const bool counter = record::info(metric).type == record::MetricType::counter;
  spec.how = counter ? record::How::counter : record::How::integrated;
  spec.scope = covers;
  spec.source = source;
  spec.max_rate = counter ? ceiling_of(metric, target.ceilings) : std::nullopt;
  if (is_power(metric) || metric == metric::kEnergy || metric == metric::kEnergyModule)
    spec.uncertainty = kSensorUncertainty;
  if (metric == metric::kEnergy || metric == metric::kEnergyModule) add_note(spec.note, kCounterNote);
  if (target.shared) add_note(spec.note, kSharedNote);
  return spec;
}

}  // namespace

SeriesReader::SeriesReader(std::shared_ptr<const Library> library, ReaderTarget target, const Bounds& bounds,
                           const core::Clock& clock, core::Duration interval, core::Duration stagger)
    : library_(std::move(library)), target_(std::move(target)), bounds_(bounds), clock_(clock) {
  if (!target_.gpu_instance) {
    probe_fields();
    probe_classic_power();
  }
  probe_calls(stagger);
  probe_gpm(interval);
}

bool SeriesReader::has(record::MetricId metric) const {
  return std::ranges::find(series_, metric, &telemetry::SeriesSpec::metric) != series_.end();
}

void SeriesReader::note_absence(record::MetricId metric, std::string_view source, Return code) {
  absences_.push_back({fmt::format("{} by {}", record::info(metric).key(), source), code});
}

void SeriesReader::add_series(telemetry::SeriesSpec spec) {
  // The plain energy counter and the classic power call of a superchip may cover the whole module.
  const bool without_scope = spec.source == "nvml field 83" || spec.source.starts_with("nvmlDevice");
  if (target_.superchip && without_scope && spec.uncertainty) spec.scope = "module";
  series_.push_back(std::move(spec));
}

// ---- what the device answers to

std::vector<FieldValue> SeriesReader::ask_fields() const {
  std::vector<FieldValue> answers;
  for (const FieldRow& row : field_table())
    answers.push_back({row.field, row.scope, 0, 0, ValueType::u32, Return::not_supported, {}});
  const Functions& nvml = library_->functions();
  const Return whole = call(nvml.device_fields, target_.handle, static_cast<int>(answers.size()), answers.data());
  if (whole == Return::success) return answers;
  // Some drivers refuse the whole batch for one id that they do not know: ask one by one.
  for (FieldValue& one : answers) {
    const Return code = call(nvml.device_fields, target_.handle, 1, &one);
    if (code != Return::success) one.code = code;
  }
  return answers;
}

void SeriesReader::probe_fields() {
  const auto answers = ask_fields();
  for (std::size_t i = 0; i < answers.size(); ++i) adopt_field(field_table()[i], answers[i]);
}

void SeriesReader::adopt_field(const FieldRow& row, const FieldValue& answer) {
  if (has(row.metric)) return;
  const auto kind = class_of(answer.code);
  const auto value = answer.code == Return::success ? decode(answer.type, answer.value, row.factor) : std::nullopt;
  if (kind == ReturnClass::permanent || kind == ReturnClass::permission)
    return note_absence(row.metric, row.source, answer.code);
  if (value && means_absent(row.metric, *value)) return note_absence(row.metric, row.source, Return::not_supported);

  auto spec = spec_for(row.metric, row.covers, row.source, target_);
  if (record::info(row.metric).type == record::MetricType::counter && answer.code == Return::success)
    if (const auto range = range_of(answer.type))
      spec.counter_range = *range * static_cast<double>(row.factor) * record::info(row.metric).step;
  if (row.field == field::kPowerAverage) spec.duty = 1.0;
  if (row.field == field::kPowerInstant) spec.duty = target_.meaning.instant_duty;
  add_note(spec.note, row.note);
  add_series(std::move(spec));
  fields_.push_back(&row);
  batch_.push_back({row.field, row.scope, 0, 0, ValueType::u32, Return::unknown, {}});
}

void SeriesReader::probe_classic_power() {
  const bool average = target_.meaning.classic == PowerKind::average;
  const auto metric = average ? metric::kPowerAvg : metric::kPowerInst;
  if (has(metric)) return;
  const PlainCall classic{"nvmlDeviceGetPowerUsage", {metric, metric}, 1, read_power_usage, {}, target_.meaning.note};
  adopt_call(classic, metric, {});
  if (has(metric)) series_.back().duty = target_.meaning.classic_duty;
}

void SeriesReader::probe_calls(core::Duration stagger) {
  for (const PlainCall& row : plain_call_table()) {
    const auto metric = row.metrics[0];
    // A slice has its own memory and processes; clocks, temperature and links are those of the whole GPU.
    if (target_.gpu_instance && metric != metric::kMemoryUsed && metric != metric::kProcesses) continue;
    if (row.only_as_fallback && has(metric)) continue;
    adopt_call(row, metric, stagger);
  }
}

void SeriesReader::adopt_call(const PlainCall& row, record::MetricId first, core::Duration stagger) {
  PlainValues values{};
  const Return code = row.read(library_->functions(), target_.handle, values);
  const auto kind = class_of(code);
  if (kind == ReturnClass::permanent || kind == ReturnClass::permission) return note_absence(first, row.source, code);
  if (code == Return::success && means_absent(first, values[0]))
    return note_absence(first, row.source, Return::not_supported);
  for (std::size_t i = 0; i < row.count; ++i) {
    auto spec = spec_for(row.metrics[i], target_.gpu_instance ? "slice" : "gpu", row.source, target_);
    spec.cadence = row.cadence;
    add_note(spec.note, row.note);
    add_series(std::move(spec));
  }
  // The first tick reads everything; later the devices take turns.
  const auto due = clock_.now();
  calls_.push_back({row.source, row.metrics, row.count, row.read, row.cadence, due, {true, row.count > 1}});
  if (row.cadence.count() > 0) calls_.back().due = due - row.cadence + std::min(stagger, row.cadence);
}

void SeriesReader::probe_gpm(core::Duration interval) {
  auto opened = GpmReader::open(library_, target_.gpm_handle, target_.gpu_instance, clock_.now());
  if (!opened) {
    absences_.push_back({"activity of SMs, tensor cores and memory by nvml gpm", opened.error()});
    return;
  }
  gpm_ = std::move(*opened);
  gpm_alive_.fill(true);
  for (const GpmRow& row : gpm_table()) {
    auto spec = spec_for(row.metric, target_.gpu_instance ? "slice" : "gpu", row.source, target_);
    if (interval < kGpmEveryTick) spec.cadence = kGpmCadence;
    add_note(spec.note, "share of clock cycles: weigh by the SM clock before averaging over changing clocks");
    add_series(std::move(spec));
  }
}

// ---- each tick

void SeriesReader::lose_device(telemetry::Reading& reading, std::size_t device, Return code, std::string_view source) {
  if (lost_) return;
  lost_ = true;
  energy_uj_.reset();
  reading.lose(device, std::nullopt, fmt::format("{}: {}", source, describe(code)));
}

bool SeriesReader::refuse(telemetry::Reading& reading, std::size_t device, record::MetricId metric, Return code,
                          std::string_view source) {
  switch (class_of(code)) {
    case ReturnClass::lost:
    case ReturnClass::global:
      lose_device(reading, device, code, source);
      return false;
    case ReturnClass::permanent:
    case ReturnClass::permission:
      reading.lose(device, metric, fmt::format("{}: {}", source, describe(code)));
      return false;
    case ReturnClass::transient:
    case ReturnClass::ok:
      reading.fail(device, metric, fmt::format("{}: {}", source, describe(code)));
      return true;
  }
  return true;
}

void SeriesReader::put(telemetry::Reading& reading, std::size_t device, record::MetricId metric, std::int64_t stored,
                       std::string_view source) {
  if (auto objection = bounds_.objection(metric, stored))
    return reading.fail(device, metric, fmt::format("{}: {}", source, *objection));
  reading.set_stored(device, metric, stored);
  if (metric == metric::kEnergy) energy_uj_ = stored;
}

void SeriesReader::read(telemetry::Reading& reading, std::size_t device) {
  if (lost_) return;
  energy_uj_.reset();
  const auto before = clock_.now();
  read_fields(reading, device);
  auto after = clock_.now();
  if (!lost_) read_calls(reading, device, before);
  if (batch_.empty()) after = clock_.now();
  if (!lost_) read_gpm(reading, device, clock_.now());
  stamped_ = before + (after - before) / 2;
  reading.stamp(device, stamped_);
}

void SeriesReader::read_fields(telemetry::Reading& reading, std::size_t device) {
  if (batch_.empty()) return;
  for (FieldValue& value : batch_) {
    // What the driver leaves untouched must not look like the last tick's answer.
    value.code = Return::unknown;
    value.value.u64 = 0;
  }
  const Return whole =
      call(library_->functions().device_fields, target_.handle, static_cast<int>(batch_.size()), batch_.data());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < batch_.size() && !lost_; ++i) {
    const FieldRow& row = *fields_[i];
    const FieldValue& answer = batch_[i];
    const Return code = whole != Return::success ? whole : answer.code;
    bool keep = true;
    if (code != Return::success)
      keep = refuse(reading, device, row.metric, code, row.source);
    else if (const auto stored = decode(answer.type, answer.value, row.factor))
      put(reading, device, row.metric, *stored, row.source);
    else
      reading.fail(device, row.metric,
                   fmt::format("{}: the driver returned a value that means \"nothing\": not stored", row.source));
    if (!keep) continue;
    fields_[kept] = fields_[i];
    batch_[kept++] = {row.field, row.scope, 0, 0, ValueType::u32, Return::unknown, {}};
  }
  if (lost_) return;
  fields_.resize(kept);
  batch_.resize(kept);
}

void SeriesReader::read_calls(telemetry::Reading& reading, std::size_t device, core::Instant now) {
  for (ActiveCall& active : calls_) {
    if (lost_) return;
    if (active.cadence.count() > 0) {
      if (now < active.due) continue;
      active.due += active.cadence * (1 + (now - active.due) / active.cadence);  // keeps its turn among the devices
    }
    PlainValues values{};
    const Return code = active.read(library_->functions(), target_.handle, values);
    for (std::size_t i = 0; i < active.count && !lost_; ++i) {
      if (!active.alive[i]) continue;
      if (code == Return::success)
        put(reading, device, active.metrics[i], values[i], active.source);
      else
        active.alive[i] = refuse(reading, device, active.metrics[i], code, active.source);
    }
  }
  std::erase_if(calls_, [](const ActiveCall& active) { return !active.alive[0] && !active.alive[1]; });
}

void SeriesReader::read_gpm(telemetry::Reading& reading, std::size_t device, core::Instant now) {
  if (!gpm_) return;
  const auto values = gpm_->read(now);
  const auto rows = gpm_table();
  for (std::size_t i = 0; i < rows.size() && !lost_; ++i) {
    if (!gpm_alive_[i]) continue;
    const auto metric = rows[i].metric;
    if (!values)
      gpm_alive_[i] = refuse(reading, device, metric, values.error(), rows[i].source);
    else if (values->empty())
      return;  // too soon after the last sample
    else if ((*values)[i].code != Return::success)
      gpm_alive_[i] = refuse(reading, device, metric, (*values)[i].code, rows[i].source);
    else if (const double percent = (*values)[i].percent; std::isfinite(percent) && std::abs(percent) < 1e9)
      put(reading, device, metric, std::llround(percent / record::info(metric).step), rows[i].source);
    else
      reading.fail(device, metric, fmt::format("{}: the driver returned no finite number: not stored", rows[i].source));
  }
}

}  // namespace gradwatt::nvml
