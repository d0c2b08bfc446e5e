// The GPU vector over the steady part: level of each gauge, what held the clocks, links against their best, for each
// GPU and as the mean of all.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/diagnosis/facts/fact_list.hpp"
#include "gradwatt/diagnosis/window_figures.hpp"
#include "gradwatt/energy/power_profile.hpp"

namespace gradwatt::diagnosis {
namespace {

using energy::Window;
using record::DeviceIndex;
using record::DeviceKind;
using record::How;
using record::metric;
using record::MetricId;

struct Gauge {
  MetricId metric;
  std::string_view fact;
};
constexpr auto kGauges = std::to_array<Gauge>({
    {metric(DeviceKind::gpu, "utilization"), "gpu.utilization_pct"},
    {metric(DeviceKind::gpu, "sm_active"), "gpu.sm_active_pct"},
    {metric(DeviceKind::gpu, "tensor_active"), "gpu.tensor_active_pct"},
    {metric(DeviceKind::gpu, "fp32_active"), "gpu.fp32_active_pct"},
    {metric(DeviceKind::gpu, "dram_active"), "gpu.dram_active_pct"},
    {metric(DeviceKind::gpu, "memory_utilization"), "gpu.memory_utilization_pct"},
    {metric(DeviceKind::gpu, "power_avg"), "gpu.power_avg_w"},
    {metric(DeviceKind::gpu, "power_limit_enforced"), "gpu.power_limit_w"},
    {metric(DeviceKind::gpu, "sm_clock"), "gpu.sm_clock_mhz"},
});

struct Counter {
  MetricId metric;
  std::string_view fact;
  double scale;  ///< of the growth a second: 60 for a rate a minute
};
constexpr auto kRates = std::to_array<Counter>({
    {metric(DeviceKind::gpu, "pcie_rx"), "gpu.pcie_rx_bytes_per_s", 1},
    {metric(DeviceKind::gpu, "pcie_tx"), "gpu.pcie_tx_bytes_per_s", 1},
    {metric(DeviceKind::gpu, "pcie_replays"), "gpu.pcie_replays_per_min", 60},
});

/// NVML's clock event reasons (nvml.h) and the counter of the same, where the driver has one.
struct Holder {
  std::string_view fact;
  std::int64_t bits;
  std::array<std::optional<MetricId>, 2> counters;
};
const std::array kHolders{
    Holder{"gpu.held_power_cap_share", 0x4, {metric(DeviceKind::gpu, "held_power_cap")}},
    Holder{"gpu.held_thermal_share",
           0x20 | 0x40,
           {metric(DeviceKind::gpu, "held_sw_thermal"), metric(DeviceKind::gpu, "held_hw_thermal")}},
    Holder{"gpu.held_power_brake_share", 0x80, {metric(DeviceKind::gpu, "held_power_brake")}},
    Holder{"gpu.held_hw_slowdown_share", 0x8, {}},
    Holder{"gpu.held_setting_share", 0x2 | 0x10, {}},
};

constexpr auto kPower = metric(DeviceKind::gpu, "power_avg");
constexpr auto kPowerInstant = metric(DeviceKind::gpu, "power_inst");
constexpr auto kReasons = metric(DeviceKind::gpu, "clock_event_reasons");
constexpr auto kTemperature = metric(DeviceKind::gpu, "temperature");
constexpr auto kMemory = metric(DeviceKind::gpu, "memory_used");
constexpr auto kUncorrected = metric(DeviceKind::gpu, "ecc_uncorrected");
constexpr auto kLinksUp = metric(DeviceKind::gpu, "nvlink_links_up");
constexpr std::array kNvlink{metric(DeviceKind::gpu, "nvlink_rx"), metric(DeviceKind::gpu, "nvlink_tx")};
constexpr std::array kPcie{Gauge{metric(DeviceKind::gpu, "pcie_gen"), "gpu.pcie_gen"},
                           Gauge{metric(DeviceKind::gpu, "pcie_width"), "gpu.pcie_width"}};
/// A link rests at a low rate while nothing runs: only a busy GPU's link says anything.
constexpr double kUnderLoad_pct = 20;

std::optional<double> attribute(const record::Device& device, const std::string& name) {
  const auto it = device.attributes.find(name);
  return it != device.attributes.end() ? core::parse_number(it->second) : std::nullopt;
}

std::optional<double> highest_in(const record::Run& run, DeviceIndex gpu, MetricId id, Window window) {
  const auto series = energy::open_series(run, gpu, id);
  if (!series) return std::nullopt;
  std::optional<double> out;
  for (std::size_t i = series->readings.first_at_or_after(window.begin_ns);
       i < series->readings.size() && series->readings.time_ns()[i] <= window.end_ns; ++i)
    out = std::max(out.value_or(0), static_cast<double>(series->readings.values()[i]) * series->step());
  return out;
}

/// Share of the readings in which one of the bits was set: NVML's reasons are states.
std::optional<double> share_with_bits(const record::Run& run, DeviceIndex gpu, std::int64_t bits, Window window) {
  const auto series = energy::open_series(run, gpu, kReasons);
  if (!series) return std::nullopt;
  std::size_t set = 0, all = 0;
  for (std::size_t i = series->readings.first_at_or_after(window.begin_ns);
       i < series->readings.size() && series->readings.time_ns()[i] <= window.end_ns; ++i)
    ++all, set += (series->readings.values()[i] & bits) != 0;
  return all > 0 ? std::optional(static_cast<double>(set) / static_cast<double>(all)) : std::nullopt;
}

std::optional<double> held_share(const record::Run& run, DeviceIndex gpu, const Holder& holder, Window window) {
  std::optional<double> share;
  for (const auto& counter : holder.counters)
    if (counter)
      if (const auto growth = growth_in(run, gpu, *counter, window); growth && growth->seconds > 0)
        share = std::min(1.0, std::max(share.value_or(0), growth->amount / growth->seconds));
  // A driver may lack the counter of one reason and show its bit all the same.
  const auto seen = share_with_bits(run, gpu, holder.bits, window);
  return share && seen ? std::optional(std::max(*share, *seen)) : share ? share : seen;
}

/// One GPU's facts by name, so that the mean over all is formed from the same.
using Facts = std::map<std::string_view, double>;

void put(Facts& facts, std::string_view name, std::optional<double> value) {
  if (value) facts[name] = *value;
}

void put_power_range(const record::Run& run, DeviceIndex gpu, Window window, Facts& facts) {
  if (!facts.contains("gpu.power_avg_w"))
    if (const auto level = level_in(run, gpu, kPowerInstant, window)) facts["gpu.power_avg_w"] = level->mean;
  if (!facts.contains("gpu.power_limit_w"))
    put(facts, "gpu.power_limit_w", attribute(run.device(gpu), "power_limit_enforced_w"));
  put(facts, "gpu.power_limit_requested_w", attribute(run.device(gpu), "power_limit_requested_w"));
  put(facts, "gpu.power_limit_default_w", attribute(run.device(gpu), "power_limit_default_w"));
  put(facts, "gpu.power_max_w", highest_in(run, gpu, kPower, window));
  const auto whole = energy::job_window(run);
  const auto power = energy::open_series(run, gpu, kPower);
  const auto mean = facts.find("gpu.power_avg_w");
  if (whole && power && mean != facts.end())
    if (const auto idle = energy::idle_level(*power, *whole, mean->second); idle && *idle < mean->second)
      facts["gpu.power_idle_w"] = *idle;
}

Facts facts_of_gpu(const record::Run& run, DeviceIndex gpu, Window window) {
  const auto& device = run.device(gpu);
  Facts facts;
  for (const auto& [id, fact] : kGauges)
    if (const auto level = level_in(run, gpu, id, window)) facts[fact] = level->mean;
  for (const auto& [id, fact, scale] : kRates)
    if (const auto growth = growth_in(run, gpu, id, window); growth && growth->seconds > 0)
      facts[fact] = scale * growth->amount / growth->seconds;
  for (const auto& holder : kHolders) put(facts, holder.fact, held_share(run, gpu, holder, window));
  put_power_range(run, gpu, window, facts);
  put(facts, "gpu.temperature_c", highest_in(run, gpu, kTemperature, window));
  put(facts, "gpu.sm_clock_max_mhz", attribute(device, "sm_clock_max_mhz"));
  if (const auto used = highest_in(run, gpu, kMemory, window), all = attribute(device, "memory_total_bytes");
      used && all && *all > 0)
    facts["gpu.memory_used_share"] = *used / *all;
  if (const auto busy = facts.find("gpu.utilization_pct"); busy != facts.end() && busy->second >= kUnderLoad_pct) {
    for (const auto& [id, fact] : kPcie) put(facts, fact, highest_in(run, gpu, id, window));
    put(facts, "gpu.pcie_gen_max", attribute(device, "pcie_gen_max"));
    put(facts, "gpu.pcie_width_max", attribute(device, "pcie_width_max"));
  }
  std::optional<double> nvlink;
  for (const auto id : kNvlink)
    if (const auto growth = growth_in(run, gpu, id, window); growth && growth->seconds > 0)
      nvlink = nvlink.value_or(0) + growth->amount / growth->seconds;
  put(facts, "gpu.nvlink_bytes_per_s", nvlink);
  put(facts, "gpu.nvlink_links_up", highest_in(run, gpu, kLinksUp, window));
  if (const auto growth = growth_in(run, gpu, kUncorrected, window)) facts["gpu.ecc_uncorrected"] = growth->amount;
  return facts;
}

bool is_whole_gpu(const record::Device& device) {
  return device.kind == DeviceKind::gpu && !device.attributes.contains("parent");
}

/// Names a GPU for people; the host only where there are several.
std::string subject_of(const record::Device& device, bool several_hosts) {
  auto name = device.index >= 0 ? fmt::format("GPU {}", device.index) : device.uuid;
  return several_hosts && !device.host.empty() ? name + " on " + device.host : name;
}

}  // namespace

void add_gpu_facts(const record::Run& run, Window window, FactList& out) {
  std::set<std::string> hosts;
  for (const auto& device : run.devices)
    if (is_whole_gpu(device)) hosts.insert(device.host);
  std::map<std::string_view, std::pair<double, int>> sums;
  int gpus = 0;
  for (std::uint32_t i = 0; i < run.devices.size(); ++i) {
    if (!is_whole_gpu(run.devices[i])) continue;
    ++gpus;
    const auto subject = subject_of(run.devices[i], hosts.size() > 1);
    if (!run.devices[i].name.empty()) out.add_text("gpu.name", subject, run.devices[i].name);
    for (const auto& [name, value] : facts_of_gpu(run, static_cast<DeviceIndex>(i), window)) {
      out.add(name, subject, value);
      sums[name].first += value;
      ++sums[name].second;
    }
  }
  for (const auto& event : run.events)
    if (event.kind == "sensor.lost" && event.device && *event.device < run.devices.size() &&
        is_whole_gpu(run.devices[*event.device]))
      out.add("gpu.lost", subject_of(run.devices[*event.device], hosts.size() > 1), 1);
  if (gpus == 0) return;
  out.add("gpu.count", "job", gpus);
  for (const auto& [name, sum] : sums)
    if (const auto* row = record::find_fact(name); row != nullptr && row->subject.find("job") != std::string_view::npos)
      out.add(name, "job", sum.first / sum.second);
}

std::vector<MetricId> columns_for_gpu_facts() {
  std::vector<MetricId> out{kPower,  kPowerInstant, kReasons, kTemperature,
                            kMemory, kUncorrected,  kLinksUp, metric(DeviceKind::gpu, "energy")};
  for (const auto& gauge : kGauges) out.push_back(gauge.metric);
  for (const auto& rate : kRates) out.push_back(rate.metric);
  for (const auto& gauge : kPcie) out.push_back(gauge.metric);
  out.insert(out.end(), kNvlink.begin(), kNvlink.end());
  for (const auto& holder : kHolders)
    for (const auto& counter : holder.counters)
      if (counter) out.push_back(*counter);
  return out;
}

}  // namespace gradwatt::diagnosis
