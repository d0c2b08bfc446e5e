#include "gradwatt/ingest/smi_listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/smi_cell.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::size_t kMostFields = 256;

enum class Kind : std::uint8_t {
  field,        ///< a query field
  lanes,        ///< "16x"
  attribute,    ///< of the device only
  uncorrected,  ///< one addend of the memory errors that were not corrected
};
struct Entry {
  std::string_view path, name;
  Kind kind = Kind::field;
};

// Paths of -q and of XML by drivers 375 to 610 (DTD v10 to v13). The reasons' old name, "throttle", is written "event".
constexpr auto kEntries = std::to_array<Entry>({
    {"product_name", "name"},
    {"uuid", "uuid"},
    {"gpu_uuid", "uuid"},
    {"pci/bus_id", "pci.bus_id"},
    {"pci/pci_bus_id", "pci.bus_id"},
    {"persistence_mode", "persistence_mode"},
    {"vbios_version", "vbios_version"},
    {"mig_mode/current", "mig.mode.current"},
    {"mig_mode/current_mig", "mig.mode.current"},
    {"ecc_mode/current", "ecc.mode.current"},
    {"ecc_mode/current_ecc", "ecc.mode.current"},
    {"fan_speed", "fan.speed"},
    {"performance_state", "pstate"},
    {"pci/gpu_link_info/pcie_generation/max", "pcie.link.gen.max"},
    {"pci/gpu_link_info/pcie_generation/current", "pcie.link.gen.current"},
    {"pci/gpu_link_info/link_width/max", "pcie.link.width.max", Kind::lanes},
    {"pci/gpu_link_info/link_width/current", "pcie.link.width.current", Kind::lanes},
    {"pci/pci_gpu_link_info/pcie_gen/max_link_gen", "pcie.link.gen.max"},
    {"pci/pci_gpu_link_info/pcie_gen/current_link_gen", "pcie.link.gen.current"},
    {"pci/pci_gpu_link_info/link_widths/max_link_width", "pcie.link.width.max", Kind::lanes},
    {"pci/pci_gpu_link_info/link_widths/current_link_width", "pcie.link.width.current", Kind::lanes},
    {"fb_memory_usage/total", "memory.total"},
    {"fb_memory_usage/used", "memory.used"},
    {"utilization/gpu", "utilization.gpu"},
    {"utilization/gpu_util", "utilization.gpu"},
    {"utilization/memory", "utilization.memory"},
    {"utilization/memory_util", "utilization.memory"},
    {"power_readings/power_draw", "power.draw"},
    {"power_readings/power_limit", "power.limit"},
    {"power_readings/enforced_power_limit", "enforced.power.limit"},
    {"power_readings/default_power_limit", "power.default_limit"},
    {"power_readings/min_power_limit", "power.min_limit"},
    {"power_readings/max_power_limit", "power.max_limit"},
    {"gpu_power_readings/power_draw", "power.draw"},
    {"gpu_power_readings/average_power_draw", "power.draw.average"},
    {"gpu_power_readings/instantaneous_power_draw", "power.draw.instant"},
    {"gpu_power_readings/instant_power_draw", "power.draw.instant"},
    {"gpu_power_readings/current_power_limit", "enforced.power.limit"},
    {"gpu_power_readings/requested_power_limit", "power.limit"},
    {"gpu_power_readings/default_power_limit", "power.default_limit"},
    {"gpu_power_readings/min_power_limit", "power.min_limit"},
    {"gpu_power_readings/max_power_limit", "power.max_limit"},
    {"module_power_readings/average_power_draw", "module.power.draw.average"},
    {"module_power_readings/instantaneous_power_draw", "module.power.draw.instant"},
    {"module_power_readings/instant_power_draw", "module.power.draw.instant"},
    {"clocks/sm", "clocks.sm"},
    {"clocks/sm_clock", "clocks.sm"},
    {"clocks/memory", "clocks.mem"},
    {"clocks/mem_clock", "clocks.mem"},
    {"max_clocks/sm", "clocks.max.sm"},
    {"max_clocks/sm_clock", "clocks.max.sm"},
    {"max_clocks/memory", "clocks.max.mem"},
    {"max_clocks/mem_clock", "clocks.max.mem"},
    {"temperature/gpu_current_temp", "temperature.gpu"},
    {"temperature/gpu_temp", "temperature.gpu"},
    {"temperature/memory_current_temp", "temperature.memory"},
    {"temperature/memory_temp", "temperature.memory"},
    {"temperature/gpu_t_limit_temp", "temperature.gpu.tlimit"},
    {"temperature/gpu_temp_tlimit", "temperature.gpu.tlimit"},
    {"temperature/gpu_shutdown_temp", "temperature_shutdown_c", Kind::attribute},
    {"temperature/gpu_temp_max_threshold", "temperature_shutdown_c", Kind::attribute},
    {"temperature/gpu_slowdown_temp", "temperature_slowdown_c", Kind::attribute},
    {"temperature/gpu_temp_slow_threshold", "temperature_slowdown_c", Kind::attribute},
    {"temperature/gpu_max_operating_temp", "temperature_max_operating_c", Kind::attribute},
    {"temperature/gpu_temp_max_gpu_threshold", "temperature_max_operating_c", Kind::attribute},
    {"temperature/memory_max_operating_temp", "temperature_memory_max_operating_c", Kind::attribute},
    {"temperature/gpu_temp_max_mem_threshold", "temperature_memory_max_operating_c", Kind::attribute},
    {"temperature/gpu_shutdown_t_limit_temp", "temperature_margin_shutdown_c", Kind::attribute},
    {"temperature/gpu_temp_max_tlimit_threshold", "temperature_margin_shutdown_c", Kind::attribute},
    {"temperature/gpu_slowdown_t_limit_temp", "temperature_margin_slowdown_c", Kind::attribute},
    {"temperature/gpu_temp_slow_tlimit_threshold", "temperature_margin_slowdown_c", Kind::attribute},
    {"clocks_event_reasons/idle", "clocks_event_reasons.gpu_idle"},
    {"clocks_event_reasons/applications_clocks_setting", "clocks_event_reasons.applications_clocks_setting"},
    {"clocks_event_reasons/sw_power_cap", "clocks_event_reasons.sw_power_cap"},
    {"clocks_event_reasons/hw_slowdown", "clocks_event_reasons.hw_slowdown"},
    {"clocks_event_reasons/hw_slowdown/hw_thermal_slowdown", "clocks_event_reasons.hw_thermal_slowdown"},
    {"clocks_event_reasons/hw_slowdown/hw_power_brake_slowdown", "clocks_event_reasons.hw_power_brake_slowdown"},
    {"clocks_event_reasons/sync_boost", "clocks_event_reasons.sync_boost"},
    {"clocks_event_reasons/sw_thermal_slowdown", "clocks_event_reasons.sw_thermal_slowdown"},
    {"clocks_event_reasons/clocks_event_reason_gpu_idle", "clocks_event_reasons.gpu_idle"},
    {"clocks_event_reasons/clocks_event_reason_applications_clocks_setting",
     "clocks_event_reasons.applications_clocks_setting"},
    {"clocks_event_reasons/clocks_event_reason_sw_power_cap", "clocks_event_reasons.sw_power_cap"},
    {"clocks_event_reasons/clocks_event_reason_hw_slowdown", "clocks_event_reasons.hw_slowdown"},
    {"clocks_event_reasons/clocks_event_reason_hw_thermal_slowdown", "clocks_event_reasons.hw_thermal_slowdown"},
    {"clocks_event_reasons/clocks_event_reason_hw_power_brake_slowdown",
     "clocks_event_reasons.hw_power_brake_slowdown"},
    {"clocks_event_reasons/clocks_event_reason_sync_boost", "clocks_event_reasons.sync_boost"},
    {"clocks_event_reasons/clocks_event_reason_sw_thermal_slowdown", "clocks_event_reasons.sw_thermal_slowdown"},
    {"ecc_errors/volatile/sram_uncorrectable", "", Kind::uncorrected},
    {"ecc_errors/volatile/sram_uncorrectable_parity", "", Kind::uncorrected},
    {"ecc_errors/volatile/sram_uncorrectable_sec_ded", "", Kind::uncorrected},
    {"ecc_errors/volatile/sram_uncorrectable_secded", "", Kind::uncorrected},
    {"ecc_errors/volatile/dram_uncorrectable", "", Kind::uncorrected},
    {"ecc_errors/volatile/double_bit/total", "", Kind::uncorrected},
    {"retired_pages/pending_page_blacklist", "retired_pages.pending"},
    {"retired_pages/pending", "retired_pages.pending"},
    {"retired_pages/pending_blacklist", "retired_pages.pending"},
    {"retired_pages/pending_retirement", "retired_pages.pending"},
    {"retired_pages/single_bit_ecc", "retired_pages_single_bit", Kind::attribute},
    {"retired_pages/double_bit_ecc", "retired_pages_double_bit", Kind::attribute},
    {"retired_pages/multiple_single_bit_retirement/retired_count", "retired_pages_single_bit", Kind::attribute},
    {"retired_pages/double_bit_retirement/retired_count", "retired_pages_double_bit", Kind::attribute},
    {"remapped_rows/pending", "remapped_rows.pending"},
    {"remapped_rows/remapped_row_pending", "remapped_rows.pending"},
    {"remapped_rows/correctable_error", "remapped_rows_correctable", Kind::attribute},
    {"remapped_rows/remapped_row_corr", "remapped_rows_correctable", Kind::attribute},
    {"remapped_rows/uncorrectable_error", "remapped_rows_uncorrectable", Kind::attribute},
    {"remapped_rows/remapped_row_unc", "remapped_rows_uncorrectable", Kind::attribute},
    {"remapped_rows/remapping_failure_occurred", "remapped_rows_failure", Kind::attribute},
    {"remapped_rows/remapped_row_failure", "remapped_rows_failure", Kind::attribute},
});

std::string with_new_name_of_reasons(std::string_view path) {
  std::string known(path);
  for (auto at = known.find("throttle"); at != std::string::npos; at = known.find("throttle", at))
    known.replace(at, std::string_view("throttle").size(), "event");
  return known;
}

bool is_deprecated(std::string_view value) { return value.find("deprecated") != std::string_view::npos; }

}  // namespace

std::string listing_key(std::string_view name) {
  std::string key;
  for (const char c : core::to_lower(core::trim(name))) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (kept)
      key += c;
    else if (!key.empty() && key.back() != '_')
      key += '_';
  }
  while (key.ends_with('_')) key.pop_back();
  return key;
}

void SmiListing::put(std::string_view name, std::string_view text, bool attribute) {
  if (look_.fields.size() >= kMostFields) return;
  const auto same = [&](const SmiField& field) { return field.name == name; };
  if (const auto known = std::ranges::find_if(look_.fields, same); known != look_.fields.end()) {
    // Two entries of one meaning (pending_blacklist, pending_retirement): the one that says something stays.
    if (read_cell(known->text).kind == CellKind::missing) known->text = text;
    return;
  }
  look_.fields.push_back({std::string(name), std::string(text.substr(0, 200)), attribute});
}

void SmiListing::add(std::string_view path, std::string_view value) {
  value = core::trim(value);
  if (value.empty() || value.size() > 1000 || is_deprecated(value)) return;
  if (path == "processes") lists_processes_ = true;
  const auto known = with_new_name_of_reasons(path);
  const auto* entry = std::ranges::find(kEntries, std::string_view(known), &Entry::path);
  if (entry == kEntries.end()) return;
  const auto cell = read_cell(value);
  switch (entry->kind) {
    case Kind::field:
      return put(entry->name, value);
    case Kind::lanes:
      return put(entry->name, value.ends_with('x') ? value.substr(0, value.size() - 1) : value);
    case Kind::attribute:
      if (cell.kind == CellKind::number) put(entry->name, fmt::format("{}", cell.value), true);
      if (cell.kind == CellKind::text) put(entry->name, value, true);
      return;
    case Kind::uncorrected:
      if (cell.kind == CellKind::number && cell.value >= 0) uncorrected_ = uncorrected_.value_or(0) + cell.value;
  }
}

void SmiListing::add_bus_id(std::string_view value) { put("pci.bus_id", core::trim(value)); }

SmiLook SmiListing::take(std::string_view driver) {
  if (!driver.empty()) put("driver_version", driver);
  if (uncorrected_) put("ecc.errors.uncorrected.volatile.total", fmt::format("{}", *uncorrected_));
  if (slices_ > 0) put("mig_slices", fmt::format("{}", slices_), true);
  if (processes_ > 0 || lists_processes_) put("processes", fmt::format("{}", processes_));
  return std::move(look_);
}

}  // namespace gradwatt::ingest
