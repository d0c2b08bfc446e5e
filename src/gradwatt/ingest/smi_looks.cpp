#include "gradwatt/ingest/smi_looks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/pci_address.hpp"
#include "gradwatt/ingest/power_meaning.hpp"
#include "gradwatt/ingest/power_series.hpp"
#include "gradwatt/ingest/smi_cell.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::size_t kMostUntimed = 100'000;
constexpr std::size_t kMostLayouts = 1024;

enum class Taken : std::uint8_t {
  setting,  ///< holds whatever the GPU does
  reading,  ///< of one moment: a fact only where there is no series of it
};

/// What a field is as a fact. `unit` is the metric table's, "" for pure numbers, "flag" for Active and Yes.
struct FactOfField {
  std::string_view field, fact, unit;
  Taken taken;
};
constexpr auto kFacts = std::to_array<FactOfField>({
    {"power.draw.average", "gpu.power_avg_w", "w", Taken::reading},
    {"power.draw", "gpu.power_avg_w", "w", Taken::reading},
    {"power.draw.instant", "gpu.power_avg_w", "w", Taken::reading},
    {"enforced.power.limit", "gpu.power_limit_w", "w", Taken::setting},
    {"power.limit", "gpu.power_limit_w", "w", Taken::setting},
    {"power.default_limit", "gpu.power_limit_default_w", "w", Taken::setting},
    {"utilization.gpu", "gpu.utilization_pct", "pct", Taken::reading},
    {"utilization.memory", "gpu.memory_utilization_pct", "pct", Taken::reading},
    {"clocks.sm", "gpu.sm_clock_mhz", "mhz", Taken::reading},
    {"clocks.max.sm", "gpu.sm_clock_max_mhz", "mhz", Taken::setting},
    {"temperature.gpu", "gpu.temperature_c", "c", Taken::reading},
    {"pcie.link.gen.current", "gpu.pcie_gen", "", Taken::setting},
    {"pcie.link.gen.max", "gpu.pcie_gen_max", "", Taken::setting},
    {"pcie.link.width.current", "gpu.pcie_width", "", Taken::setting},
    {"pcie.link.width.max", "gpu.pcie_width_max", "", Taken::setting},
    {"ecc.errors.uncorrected.volatile.total", "gpu.ecc_uncorrected", "", Taken::setting},
    {"remapped_rows.pending", "gpu.row_remap_pending", "flag", Taken::setting},
    {"retired_pages.pending", "gpu.row_remap_pending", "flag", Taken::setting},
    {"clocks_event_reasons.sw_power_cap", "gpu.held_power_cap_share", "flag", Taken::reading},
    {"clocks_event_reasons.sw_thermal_slowdown", "gpu.held_thermal_share", "flag", Taken::reading},
    {"clocks_event_reasons.hw_thermal_slowdown", "gpu.held_thermal_share", "flag", Taken::reading},
    {"clocks_event_reasons.hw_power_brake_slowdown", "gpu.held_power_brake_share", "flag", Taken::reading},
    {"clocks_event_reasons.hw_slowdown", "gpu.held_hw_slowdown_share", "flag", Taken::reading},
    {"clocks_event_reasons.applications_clocks_setting", "gpu.held_setting_share", "flag", Taken::reading},
});

/// The fact's value of a field; nothing where it has none, or an impossible one.
std::optional<double> number_of(const FactOfField& row, std::string_view text) {
  if (row.unit == "flag") {
    const auto word = core::to_lower(text);
    if (word == "active" || word == "yes") return 1;
    return word == "not active" || word == "no" ? std::optional(0.0) : std::nullopt;
  }
  const auto cell = read_cell(text);
  if (cell.kind != CellKind::number || cell.value < 0 || cell.value > 1e9) return std::nullopt;
  if (cell.unit.empty() || row.unit.empty()) return cell.value;
  const auto factor = unit_factor(cell.unit, row.unit);
  return factor ? std::optional(cell.value * *factor) : std::nullopt;
}

const std::string* text_of(const SmiLook& look, std::string_view name) {
  for (const auto& field : look.fields)
    if (!field.attribute && field.name == name) return &field.text;
  return nullptr;
}

std::optional<double> bytes_of(const SmiLook& look, std::string_view name) {
  const auto* text = text_of(look, name);
  const auto cell = text != nullptr ? read_cell(*text) : Cell{};
  const auto factor = cell.kind == CellKind::number ? unit_factor(cell.unit, "bytes") : std::nullopt;
  return factor && cell.value >= 0 ? std::optional(cell.value * *factor) : std::nullopt;
}

/// UUID, else "GPU 3", else "PCI 0000:17:00": the name that other witnesses give the same GPU.
std::string subject_of(const Identity& identity) {
  if (!identity.uuid.empty()) return std::string(identity.uuid);
  if (identity.index >= 0) return fmt::format("GPU {}", identity.index);
  const auto pci = pci_subject(identity.bus_id);
  return pci.empty() ? std::string("GPU 0") : pci;
}

}  // namespace

SmiLooks::SmiLooks(const std::string& file, const ImportOptions& options, Diagnostics& notes)
    : file_(file), notes_(notes), clock_(options), readings_(file, notes) {}

void SmiLooks::at(std::optional<ParsedTime> time, std::size_t line) {
  time_ = time ? clock_.place(*time, line, notes_) : std::nullopt;
}

void SmiLooks::add(SmiLook look) {
  ++looks_;
  if (time_) {
    ++timed_looks_;
    take(look, *time_);
  } else if (untimed_.size() < kMostUntimed) {
    untimed_.push_back(std::move(look));
  }
}

const Layout& SmiLooks::layout_of(const SmiLook& look) {
  std::string header;
  for (const auto& field : look.fields)
    if (!field.attribute) header += (header.empty() ? "" : ",") + field.name;
  if (const auto known = layouts_.find(header); known != layouts_.end()) return known->second;
  Layout layout;
  layout.line = look.line;
  for (const auto& field : look.fields) {
    if (field.attribute) continue;
    LayoutColumn column{meaning_of(field.name)};
    const auto role = column.meaning.role;
    const bool names = role == Role::index || role == Role::uuid || role == Role::bus_id || role == Role::name;
    if (names) layout.identity.push_back(layout.columns.size());
    layout.columns.push_back(std::move(column));
  }
  return layouts_.emplace(std::move(header), std::move(layout)).first->second;
}

void SmiLooks::take(const SmiLook& look, std::int64_t time_ns) {
  if (layouts_.size() >= kMostLayouts) layouts_.clear();  // every GPU prints other fields: hostile, but no harm
  const auto& layout = layout_of(look);
  std::vector<std::string_view> cells;
  for (const auto& field : look.fields)
    if (!field.attribute) cells.emplace_back(field.text);
  const SmiRow row{layout, cells, look.line, true};
  const auto device = readings_.device(identity_of(row, kNotWide));
  if (!device) {
    if (!std::exchange(too_many_, true))
      notes_.add({}, look.line, fmt::format("more than {} GPUs; those behind are not read", kMaxDevices));
    return;
  }
  readings_.begin_table(layout);
  readings_.take(row, *device, kNotWide, time_ns);
  note_facts(look, row, *device);
}

void SmiLooks::note_facts(const SmiLook& look, const SmiRow& row, std::size_t device) {
  if (gpus_.size() <= device) gpus_.resize(device + 1);
  auto& gpu = gpus_[device];
  const auto identity = identity_of(row, kNotWide);
  if (gpu.name.empty()) gpu.name = subject_of(identity);
  if (gpu.line == 0) gpu.line = look.line;
  ++gpu.looks;
  if (!identity.name.empty()) gpu.texts.try_emplace("gpu.name", identity.name);
  std::map<std::string_view, double> values;  // of this look: the first field of a fact counts, a flag if any is set
  const auto note = [&](std::string_view fact, double value, bool flag) {
    const auto [place, is_new] = values.try_emplace(fact, value);
    if (!is_new && flag) place->second = std::max(place->second, value);
  };
  for (const auto& known : kFacts) {
    const auto* text = text_of(look, known.field);
    if (const auto value = text != nullptr ? number_of(known, *text) : std::nullopt)
      note(known.fact, *value, known.unit == "flag");
  }
  const auto used = bytes_of(look, "memory.used"), total = bytes_of(look, "memory.total");
  if (used && total && *total > 0 && *used <= *total) note("gpu.memory_used_share", *used / *total, false);
  for (const auto& [fact, value] : values) {
    auto& mean = gpu.facts[fact];
    mean.sum += value, mean.largest = std::max(mean.largest, value);
    if (mean.number++ == 0) mean.line = look.line;
  }
  for (const auto& field : look.fields)
    if (field.attribute && gpu.attributes.size() < 64)
      gpu.attributes.try_emplace(field.name, printable(field.text, 80));
}

void SmiLooks::finish_series(Testimony& to, bool timed) {
  record::Run part;
  readings_.finish(part, timed && clock_.whole_seconds());
  for (std::size_t i = 0; i < part.devices.size() && i < gpus_.size(); ++i)
    part.devices[i].attributes.insert(gpus_[i].attributes.begin(), gpus_[i].attributes.end());
  std::erase_if(part.series, [&](const auto& series) { return !timed || series.columns.empty(); });
  if (!timed) part.quality.clear(), part.events.clear();
  for (auto& quality : part.quality) {
    const auto column = readings_.column_of(record::number(quality.device), quality.metric);
    quality.source = fmt::format("{} of {}", column, file_);
    describe_power(quality, part.device(quality.device).name, meaning_of(column).role == Role::plain_power);
  }
  if (timed) fill_enforced_limit(part);
  const auto first = static_cast<std::uint32_t>(to.run.devices.size());
  const auto moved = [&](record::DeviceIndex index) {
    return static_cast<record::DeviceIndex>(record::number(index) + first);
  };
  for (auto& device : part.devices) to.run.devices.push_back(std::move(device));
  for (auto& series : part.series) series.device = moved(series.device), to.run.series.push_back(std::move(series));
  for (auto& quality : part.quality)
    quality.device = moved(quality.device), to.run.quality.push_back(std::move(quality));
  for (auto& event : part.events) {
    if (event.device) *event.device += first;
    to.run.events.push_back(std::move(event));
  }
  for (auto& fact : part.facts) to.run.facts.push_back(std::move(fact));
}

void SmiLooks::finish_facts(Testimony& to, bool timed) const {
  for (const auto& gpu : gpus_) {
    if (gpu.looks == 0) continue;
    const bool once = !timed || gpu.looks == 1;
    for (const auto& [name, text] : gpu.texts) to.facts.add(name, gpu.name, text, gpu.line);
    for (const auto& [fact, mean] : gpu.facts) {
      const auto* known = std::ranges::find(kFacts, fact, &FactOfField::fact);
      const bool setting = known != kFacts.end() && known->taken == Taken::setting;
      if (!setting && !once) continue;
      const auto value = fact == "gpu.temperature_c" ? mean.largest : mean.sum / static_cast<double>(mean.number);
      to.facts.add(fact, gpu.name, value, mean.line);
    }
  }
}

void SmiLooks::finish(Testimony& to) {
  if (looks_ == 0) return;
  const bool timed = timed_looks_ > 0;
  std::int64_t fake = 0;
  for (const auto& look : untimed_) {
    if (!timed) take(look, fake++);
  }
  if (!timed) notes_.note("says no time, so its readings are kept as facts, without a series");
  if (timed && !untimed_.empty())
    notes_.note(fmt::format("{} rows have no time and are not read; others have one", untimed_.size()));
  finish_series(to, timed);
  finish_facts(to, timed);
  if (!timed) return;
  to.run.set(record::meta::kZoneKnown, std::string(clock_.zone_known() ? "1" : "0"));
  if (!clock_.is_absolute()) to.run.set("import_time", std::string("relative"));
  if (clock_.is_absolute() && !clock_.zone_known())
    notes_.note("writes local time without its zone; it is read as UTC (--utc-offset gives the zone)");
  std::int64_t interval = 0;
  for (const auto& series : to.run.series) interval = std::max(interval, median_step(series.time_ns));
  if (interval > 0) to.run.set(record::meta::kInterval, interval);
}

}  // namespace gradwatt::ingest
