#include "gradwatt/ingest/smi_columns.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/ingest/smi_cell.hpp"

namespace gradwatt::ingest {
namespace {

using record::DeviceKind;
using record::MetricId;

consteval MetricId gpu(std::string_view name) { return record::metric(DeviceKind::gpu, name); }

struct ColumnRow {
  std::string_view name;  // words joined by '_', without unit
  Role role;
  std::optional<MetricId> metric = std::nullopt;
  std::string_view unit;
  std::string_view detail;
  std::string_view fact;
};

// nvidia-smi's names as `nvidia-smi --help-query-gpu` of drivers 465 to 610 lists them, '.' written as '_'.
// Order matters nowhere. Old and new names of one field are two rows.
constexpr auto kOfficial = std::to_array<ColumnRow>({
    {"timestamp", Role::time},
    {"index", Role::index},
    {"uuid", Role::uuid},
    {"gpu_uuid", Role::uuid},
    {"pci_bus_id", Role::bus_id},
    {"gpu_bus_id", Role::bus_id},
    {"name", Role::name},
    {"gpu_name", Role::name},
    {"hostname", Role::host},
    {"power_draw", Role::plain_power, std::nullopt, "w"},
    {"power_draw_average", Role::metric, gpu("power_avg"), "w"},
    {"gpu_power_draw_average", Role::metric, gpu("power_avg"), "w"},
    {"power_draw_instant", Role::metric, gpu("power_inst"), "w"},
    {"gpu_power_draw_instant", Role::metric, gpu("power_inst"), "w"},
    {"module_power_draw_average", Role::metric, gpu("power_module_avg"), "w"},
    {"module_power_draw_instant", Role::metric, gpu("power_module_inst"), "w"},
    {"enforced_power_limit", Role::metric, gpu("power_limit_enforced"), "w"},
    {"gpu_power_current_limit", Role::metric, gpu("power_limit_enforced"), "w"},
    {"power_limit", Role::metric, gpu("power_limit_requested"), "w"},
    {"gpu_power_requested_limit", Role::metric, gpu("power_limit_requested"), "w"},
    {"utilization_gpu", Role::metric, gpu("utilization"), "pct"},
    {"utilization_memory", Role::metric, gpu("memory_utilization"), "pct"},
    {"memory_used", Role::metric, gpu("memory_used"), "mib"},
    {"temperature_gpu", Role::metric, gpu("temperature"), "c"},
    {"temperature_gpu_tlimit", Role::metric, gpu("temperature_margin"), "c"},
    {"temperature_memory", Role::metric, gpu("temperature_memory"), "c"},
    {"clocks_current_sm", Role::metric, gpu("sm_clock"), "mhz"},
    {"clocks_sm", Role::metric, gpu("sm_clock"), "mhz"},
    {"clocks_current_memory", Role::metric, gpu("memory_clock"), "mhz"},
    {"clocks_mem", Role::metric, gpu("memory_clock"), "mhz"},
    {"fan_speed", Role::metric, gpu("fan_speed"), "pct"},
    {"pstate", Role::metric, gpu("performance_state")},
    {"pcie_link_gen_current", Role::metric, gpu("pcie_gen")},
    {"pcie_link_gen_gpucurrent", Role::metric, gpu("pcie_gen")},
    {"pcie_link_width_current", Role::metric, gpu("pcie_width")},
    {"ecc_errors_corrected_volatile_total", Role::metric, gpu("ecc_corrected")},
    {"ecc_errors_uncorrected_volatile_total", Role::metric, gpu("ecc_uncorrected")},
    {"clocks_event_reasons_active", Role::metric, gpu("clock_event_reasons")},
    {"clocks_throttle_reasons_active", Role::metric, gpu("clock_event_reasons")},
    {"clocks_event_reasons_counters_sw_power_cap", Role::metric, gpu("held_power_cap"), "us"},
    {"clocks_event_reasons_counters_sync_boost", Role::metric, gpu("held_sync_boost"), "us"},
    {"clocks_event_reasons_counters_sw_thermal_slowdown", Role::metric, gpu("held_sw_thermal"), "us"},
    {"clocks_event_reasons_counters_hw_thermal_slowdown", Role::metric, gpu("held_hw_thermal"), "us"},
    {"clocks_event_reasons_counters_hw_power_brake_slowdown", Role::metric, gpu("held_power_brake"), "us"},
    // Bits of NVML's clock event reasons.
    {"clocks_event_reasons_gpu_idle", Role::reason, std::nullopt, "", "1"},
    {"clocks_event_reasons_applications_clocks_setting", Role::reason, std::nullopt, "", "2"},
    {"clocks_event_reasons_sw_power_cap", Role::reason, std::nullopt, "", "4"},
    {"clocks_event_reasons_hw_slowdown", Role::reason, std::nullopt, "", "8"},
    {"clocks_event_reasons_sync_boost", Role::reason, std::nullopt, "", "16"},
    {"clocks_event_reasons_sw_thermal_slowdown", Role::reason, std::nullopt, "", "32"},
    {"clocks_event_reasons_hw_thermal_slowdown", Role::reason, std::nullopt, "", "64"},
    {"clocks_event_reasons_hw_power_brake_slowdown", Role::reason, std::nullopt, "", "128"},
    // What does not change in a run.
    {"power_default_limit", Role::fixed, std::nullopt, "w", "power_limit_default_w"},
    {"power_min_limit", Role::fixed, std::nullopt, "w", "power_limit_min_w"},
    {"power_max_limit", Role::fixed, std::nullopt, "w", "power_limit_max_w"},
    {"memory_total", Role::fixed, std::nullopt, "mib", "memory_total_bytes"},
    {"clocks_max_sm", Role::fixed, std::nullopt, "mhz", "sm_clock_max_mhz"},
    {"clocks_max_memory", Role::fixed, std::nullopt, "mhz", "memory_clock_max_mhz"},
    {"clocks_max_mem", Role::fixed, std::nullopt, "mhz", "memory_clock_max_mhz"},
    {"pcie_link_gen_max", Role::fixed, std::nullopt, "", "pcie_gen_max"},
    {"pcie_link_width_max", Role::fixed, std::nullopt, "", "pcie_width_max"},
    {"driver_version", Role::fixed, std::nullopt, "", "driver_version", "gpu.driver_version"},
    {"persistence_mode", Role::fixed, std::nullopt, "", "persistence_mode", "gpu.persistence_mode"},
    {"mig_mode_current", Role::fixed, std::nullopt, "", "mig_mode", "gpu.mig_mode"},
    {"ecc_mode_current", Role::fixed, std::nullopt, "", "ecc_mode", "gpu.ecc_mode"},
    {"vbios_version", Role::fixed, std::nullopt, "", "vbios_version"},
    {"compute_cap", Role::fixed, std::nullopt, "", "compute_capability"},
    {"serial", Role::fixed, std::nullopt, "", "serial"},
    {"gpu_serial", Role::fixed, std::nullopt, "", "serial"},
    {"count", Role::fixed, std::nullopt, "", "gpu_count"},
    // Columns of nvidia-smi's other tables: --query-compute-apps, --query-accounted-apps, --query-retired-pages.
    {"pid", Role::foreign},
    {"process_name", Role::foreign},
    {"retired_pages_address", Role::foreign},
    {"retired_pages_cause", Role::foreign},
});

// Names that people's own scripts use. Only those that leave no doubt: "mem_util" may be the share of memory in use or
// of memory bandwidth, so it is not here.
constexpr auto kOwnMade = std::to_array<ColumnRow>({
    {"time", Role::time},
    {"datetime", Role::time},
    {"date_time", Role::time},
    {"date", Role::time},
    {"ts", Role::time},
    {"unix_time", Role::time},
    {"unix_timestamp", Role::time},
    {"unixtime", Role::time},
    {"epoch", Role::time},
    {"epoch_time", Role::time},
    {"elapsed", Role::time},
    {"elapsed_time", Role::time},
    {"relative_time", Role::time},
    {"seconds", Role::time},
    {"gpu_id", Role::index},
    {"gpu_index", Role::index},
    {"gpuid", Role::index},
    {"gpu_idx", Role::index},
    {"gpu_num", Role::index},
    {"gpu", Role::index},
    {"device", Role::index},
    {"device_id", Role::index},
    {"device_index", Role::index},
    {"id", Role::index},
    {"idx", Role::index},
    {"model", Role::name},
    {"gpu_model", Role::name},
    {"device_name", Role::name},
    {"bus_id", Role::bus_id},
    {"host", Role::host},
    {"node", Role::host},
    {"node_name", Role::host},
    {"power", Role::plain_power, std::nullopt, "w"},
    {"gpu_power", Role::plain_power, std::nullopt, "w"},
    {"power_usage", Role::plain_power, std::nullopt, "w"},
    {"gpu_power_usage", Role::plain_power, std::nullopt, "w"},
    {"gpu_power_draw", Role::plain_power, std::nullopt, "w"},
    {"powerdraw", Role::plain_power, std::nullopt, "w"},
    {"watts", Role::plain_power, std::nullopt, "w"},
    {"power_avg", Role::metric, gpu("power_avg"), "w"},
    {"power_average", Role::metric, gpu("power_avg"), "w"},
    {"power_inst", Role::metric, gpu("power_inst"), "w"},
    {"power_instant", Role::metric, gpu("power_inst"), "w"},
    {"gpu_power_limit", Role::metric, gpu("power_limit_requested"), "w"},
    {"power_cap", Role::metric, gpu("power_limit_requested"), "w"},
    {"utilization", Role::metric, gpu("utilization"), "pct"},
    {"util", Role::metric, gpu("utilization"), "pct"},
    {"usage", Role::metric, gpu("utilization"), "pct"},
    {"gpu_util", Role::metric, gpu("utilization"), "pct"},
    {"gpu_utilization", Role::metric, gpu("utilization"), "pct"},
    {"gpu_usage", Role::metric, gpu("utilization"), "pct"},
    {"gpu_load", Role::metric, gpu("utilization"), "pct"},
    {"util_gpu", Role::metric, gpu("utilization"), "pct"},
    {"gpu_memory_used", Role::metric, gpu("memory_used"), "mib"},
    {"gpu_mem_used", Role::metric, gpu("memory_used"), "mib"},
    {"mem_used", Role::metric, gpu("memory_used"), "mib"},
    {"memory_usage", Role::metric, gpu("memory_used"), "mib"},
    {"used_memory", Role::metric, gpu("memory_used"), "mib"},
    {"temperature", Role::metric, gpu("temperature"), "c"},
    {"temp", Role::metric, gpu("temperature"), "c"},
    {"gpu_temp", Role::metric, gpu("temperature"), "c"},
    {"gpu_temperature", Role::metric, gpu("temperature"), "c"},
    {"temp_gpu", Role::metric, gpu("temperature"), "c"},
    {"sm_clock", Role::metric, gpu("sm_clock"), "mhz"},
    {"clock_sm", Role::metric, gpu("sm_clock"), "mhz"},
    {"gpu_clock", Role::metric, gpu("sm_clock"), "mhz"},
    {"gpu_sm_clock", Role::metric, gpu("sm_clock"), "mhz"},
    {"mem_clock", Role::metric, gpu("memory_clock"), "mhz"},
    {"memory_clock", Role::metric, gpu("memory_clock"), "mhz"},
    {"processes", Role::metric, gpu("processes")},
    {"fan", Role::metric, gpu("fan_speed"), "pct"},
    {"mem_total", Role::fixed, std::nullopt, "mib", "memory_total_bytes"},
    {"gpu_memory_total", Role::fixed, std::nullopt, "mib", "memory_total_bytes"},
    {"total_memory", Role::fixed, std::nullopt, "mib", "memory_total_bytes"},
});

using Words = std::vector<std::string>;

/// Lower-case words of a name: "GPU-0 Power" -> gpu, 0, power.
Words words_of(std::string_view name) {
  Words words;
  std::string word;
  for (const char c : core::to_lower(name)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '%' || (static_cast<unsigned char>(c) & 0x80U) != 0) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

std::string join(const Words& words) {
  std::string name;
  for (const auto& word : words) name += (name.empty() ? "" : "_") + word;
  return name;
}

/// Takes the unit in the last brackets off: "power.draw [W]" -> "power.draw", "W".
std::pair<std::string_view, std::string_view> split_unit(std::string_view cell) {
  cell = core::trim(cell);
  const char close = cell.empty() ? '\0' : cell.back();
  const char open = close == ']' ? '[' : close == ')' ? '(' : '\0';
  const auto at = open != '\0' ? cell.rfind(open) : std::string_view::npos;
  if (at == std::string_view::npos || at == 0) return {cell, {}};
  const auto unit = core::trim(cell.substr(at + 1, cell.size() - at - 2));
  if (!is_unit(unit)) return {cell, {}};
  return {core::trim(cell.substr(0, at)), unit};
}

const ColumnRow* find_row(const Words& words, bool& official) {
  const auto name = join(words);
  if (const auto* it = std::ranges::find(kOfficial, std::string_view(name), &ColumnRow::name); it != kOfficial.end())
    return official = true, it;
  official = false;
  const auto* it = std::ranges::find(kOwnMade, std::string_view(name), &ColumnRow::name);
  return it != kOwnMade.end() ? it : nullptr;
}

/// Takes "gpu3" or "gpu", "3" out of the words.
std::optional<int> take_gpu_number(Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("gpu")) continue;
    const bool joined = words[i].size() > 3;
    if (!joined && i + 1 >= words.size()) continue;
    const auto digits = joined ? std::string_view(words[i]).substr(3) : std::string_view(words[i + 1]);
    const auto number = core::parse_int(digits);
    if (!number || *number < 0 || *number > 1023) continue;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i),
                words.begin() + static_cast<std::ptrdiff_t>(i + (joined ? 1 : 2)));
    return static_cast<int>(*number);
  }
  return std::nullopt;
}

TimeUnit time_unit_of(std::string_view unit) {
  if (unit == "s") return TimeUnit::s;
  if (unit == "ms") return TimeUnit::ms;
  if (unit == "us" || unit == "µs") return TimeUnit::us;
  return unit == "ns" ? TimeUnit::ns : TimeUnit::automatic;
}

/// The row of a name, with the unit at its end taken off where that makes it known: "power_w", "elapsed_ms".
const ColumnRow* find_with_unit(Words& words, ColumnMeaning& meaning) {
  if (const auto* row = find_row(words, meaning.official)) return row;
  if (words.size() < 2 || !meaning.written_unit.empty() || !is_unit(words.back())) return nullptr;
  auto shorter = words;
  shorter.pop_back();
  const auto* row = find_row(shorter, meaning.official);
  if (row == nullptr) return nullptr;
  meaning.written_unit = words.back();
  meaning.official = false;
  words = std::move(shorter);
  return row;
}

Words without_alias_of_reasons(Words words) {
  // clocks_throttle_reasons.* is the name of clocks_event_reasons.* before driver 535.
  if (words.size() > 2 && words[0] == "clocks" && words[1] == "throttle") words[1] = "event";
  return words;
}

}  // namespace

ColumnMeaning meaning_of(std::string_view header_cell) {
  ColumnMeaning meaning;
  const auto [name, unit] = split_unit(header_cell);
  meaning.name = name;
  meaning.written_unit = unit;
  auto words = without_alias_of_reasons(words_of(name));
  if (words.empty() || name.size() > 120) return meaning;
  const auto* row = find_with_unit(words, meaning);
  if (row == nullptr) {
    meaning.gpu = take_gpu_number(words);
    if (!meaning.gpu) return meaning;
    if (words.empty() || (words.size() == 1 && is_unit(words[0]))) {
      if (!words.empty()) meaning.written_unit = words[0];
      meaning.role = Role::bare;
      return meaning;
    }
    row = find_with_unit(words, meaning);
    meaning.official = false;
    if (row == nullptr) return meaning;
  }
  meaning.role = row->role;
  meaning.metric = row->metric;
  meaning.unit = row->unit;
  meaning.detail = row->detail;
  meaning.fact = row->fact;
  if (row->role == Role::time) meaning.time_unit = time_unit_of(core::to_lower(meaning.written_unit));
  return meaning;
}

}  // namespace gradwatt::ingest
