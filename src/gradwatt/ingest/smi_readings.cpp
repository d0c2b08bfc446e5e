#include "gradwatt/ingest/smi_readings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/pci_address.hpp"
#include "gradwatt/ingest/smi_cell.hpp"
#include "gradwatt/ingest/smi_tally.hpp"
#include "gradwatt/ingest/smi_value.hpp"

namespace gradwatt::ingest {
namespace {

using record::kMissing;
using record::MetricId;
constexpr auto kGpu = record::DeviceKind::gpu;
constexpr MetricId kPowerAverage = record::metric(kGpu, "power_avg");
constexpr MetricId kPowerInstant = record::metric(kGpu, "power_inst");
constexpr MetricId kReasons = record::metric(kGpu, "clock_event_reasons");

bool belongs(const ColumnMeaning& meaning, int wide_gpu) { return meaning.gpu.value_or(kNotWide) == wide_gpu; }

/// UUID, else "GPU 3", else "PCI 0000:17:00": the name that other readers give the same GPU.
std::string subject_of(const record::Device& device) {
  if (!device.uuid.empty()) return device.uuid;
  const auto bus = device.attributes.find("pci_bus_id");
  auto pci = bus != device.attributes.end() ? pci_subject(bus->second) : std::string();
  if (device.index < 0 && !pci.empty()) return pci;
  return fmt::format("GPU {}", std::max(device.index, 0));
}

}  // namespace

SmiReadings::DeviceState& SmiReadings::state(std::size_t device) {
  while (states_.size() <= device) states_.push_back({power_draw_of(table_.about(states_.size()).name)});
  return states_[device];
}

std::string SmiReadings::column_of(std::size_t device, MetricId metric) const {
  if (device < states_.size() && !states_[device].columns[slot(metric)].empty())
    return states_[device].columns[slot(metric)];
  for (const auto& state : states_)
    if (!state.columns[slot(metric)].empty()) return state.columns[slot(metric)];
  return {};
}

void SmiReadings::take(const SmiRow& row, std::size_t device, int wide_gpu, std::int64_t time_ns) {
  auto& of = state(device);
  last_time_ = time_ns;
  ++of.rows;
  table_.begin_row(device, time_ns);
  bool plain_power = false, reasons = false;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const auto& meaning = row.layout.columns[i].meaning;
    if (!belongs(meaning, wide_gpu)) continue;
    plain_power = plain_power || meaning.role == Role::plain_power;
    reasons = reasons || meaning.role == Role::reason;
    if (meaning.role == Role::metric) take_metric(row, device, i, *meaning.metric);
    if (meaning.role == Role::fixed && of.rows <= 3) take_fixed(row, device, i);
  }
  if (reasons && !table_.has(kReasons)) take_reasons(row, device, wide_gpu);
  if (plain_power) take_plain_power(row, device, wide_gpu);
}

void SmiReadings::take_message(std::string_view text) {
  events_.push_back({last_time_, std::nullopt, "import.message", std::string(text.substr(0, 200))});
}

/// power.draw.average and .instant say more; power.draw fills only where they are silent.
void SmiReadings::take_plain_power(const SmiRow& row, std::size_t device, int wide_gpu) {
  const auto metric = states_[device].power.kind == PowerKind::average ? kPowerAverage : kPowerInstant;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const auto& meaning = row.layout.columns[i].meaning;
    if (meaning.role == Role::plain_power && belongs(meaning, wide_gpu) && !table_.has(metric))
      take_metric(row, device, i, metric);
  }
}

void SmiReadings::take_metric(const SmiRow& row, std::size_t device, std::size_t position, MetricId metric) {
  const auto& column = row.layout.columns[position];
  const auto text = row.cells[position];
  auto [kind, value, has_unit] = value_of(column, metric, text, row.layout.decimal_comma());
  units_seen_[position] += has_unit ? 1 : 0;
  // The last cell of a file without a final line end may have lost its end: "12" of "126.96 W".
  if (value && !row.ended && !has_unit && units_seen_[position] > 0 && position + 1 == row.cells.size()) {
    notes_.add(trouble::kWrongCells, row.line,
               fmt::format("cut off in the cell {}; taken as missing", in_quotes(text)));
    cut_off_ = true;
    return table_.set(metric, kMissing);
  }
  if (kind == CellKind::fault) report_fault(row, device, text);
  if (kind == CellKind::text)
    notes_.add(trouble::kBadCell, row.line,
               fmt::format("{} is no value of {}; taken as missing", in_quotes(text), in_quotes(column.meaning.name)));
  if (value && !is_possible(metric, *value)) {
    notes_.add(
        trouble::kImpossible, row.line,
        fmt::format("{} cannot be a value of {}; taken as missing", in_quotes(text), in_quotes(column.meaning.name)));
    value.reset();
  }
  if (!value) return table_.set(metric, kMissing);
  auto& from = states_[device].columns[slot(metric)];
  if (from.empty()) from = column.meaning.name;
  table_.set(metric, std::llround(*value / record::info(metric).step));
}

void SmiReadings::take_reasons(const SmiRow& row, std::size_t device, int wide_gpu) {
  std::int64_t bits = 0;
  bool any = false;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const auto& meaning = row.layout.columns[i].meaning;
    if (meaning.role != Role::reason || !belongs(meaning, wide_gpu)) continue;
    const auto word = core::to_lower(row.cells[i]);
    const bool active = word == "active";
    any = any || active || word == "not active";
    if (active) bits |= static_cast<std::int64_t>(read_cell(meaning.detail).value);
  }
  if (!any) return;
  table_.set(kReasons, bits);
  states_[device].columns[slot(kReasons)] = "clocks_event_reasons.*";
}

void SmiReadings::take_fixed(const SmiRow& row, std::size_t device, std::size_t position) {
  const auto& column = row.layout.columns[position];
  const auto text = row.cells[position];
  const auto cell = read_cell(text, row.layout.decimal_comma());
  if (cell.kind == CellKind::missing || cell.kind == CellKind::fault) return;
  auto& about = table_.about(device);
  const std::string key(column.meaning.detail);
  if (about.attributes.contains(key)) return;
  std::string value(text.substr(0, 200));
  if (!column.meaning.unit.empty()) {
    const auto unit = column.meaning.detail.substr(column.meaning.detail.rfind('_') + 1);
    const auto factor =
        cell.unit.empty() || column.fixed_factor ? column.factor : unit_factor(cell.unit, unit).value_or(0);
    if (cell.kind != CellKind::number || factor <= 0 || cell.value < 0 || cell.value * factor > 1e15) return;
    value = fmt::format("{}", cell.value * factor);
  }
  about.attributes.emplace(key, value);
  if (column.meaning.fact.empty()) return;
  record::Fact fact{.name = std::string(column.meaning.fact)};
  fact.subject = subject_of(about);
  fact.value = value;
  fact.where = record::Where::imported;
  fact.source = fmt::format("{} column {}", name_, column.meaning.name);
  facts_.push_back(std::move(fact));
}

void SmiReadings::report_fault(const SmiRow& row, std::size_t device, std::string_view text) {
  auto& of = state(device);
  constexpr std::size_t kKinds = 8;
  if (of.faults.size() >= kKinds || !of.faults.emplace(text).second) return;
  events_.push_back({last_time_, static_cast<std::uint32_t>(device), "sensor.failed",
                     fmt::format("the GPU answered {} first at line {} of {}", in_quotes(text), row.line, name_)});
}

TableFindings SmiReadings::finish(record::Run& run, bool whole_seconds) {
  const auto findings = table_.finish(run, whole_seconds);
  run.events = std::move(events_);
  if (findings.split_into > 0)
    for (auto& event : run.events) event.device.reset();
  run.facts = std::move(facts_);
  return findings;
}

}  // namespace gradwatt::ingest
