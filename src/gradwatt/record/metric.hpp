// The metric table: the one place where a measured quantity is named. Columns of the record, JSON keys, CSV headers,
// help and docs come from it. A new metric is one row in metric.cpp's table below.
//
//   constexpr MetricId kPower = metric(DeviceKind::gpu, "power_avg");   // checked at compile time
//   info(kPower).key()    -> "power_avg_w"    what people and JSON see
//   info(kPower).column() -> "power_avg_mw"   what the file stores, as integers
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gradwatt/record/device.hpp"

namespace gradwatt::record {

enum class MetricType : std::uint8_t {
  gauge,    ///< a level: power, utilisation
  counter,  ///< only grows; stored raw and as the guard's total since the first reading
  state,    ///< bits or an enumeration: never averaged
};
enum class Aggregation : std::uint8_t { sum, mean, max };

struct Metric {
  DeviceKind kind;
  std::string_view name;    ///< without unit
  std::string_view unit;    ///< suffix of the value people see: w, j, pct, mhz, bytes, c, s
  std::string_view stored;  ///< suffix of the integer in the file: mw, uj, permille, …
  double step;              ///< value = stored integer × step
  MetricType type;
  Aggregation over_devices;
  std::string_view description;

  [[nodiscard]] std::string key() const;         ///< power_avg_w
  [[nodiscard]] std::string column() const;      ///< power_avg_mw
  [[nodiscard]] std::string raw_column() const;  ///< energy_raw_uj; only of counters
};

namespace table {
using enum DeviceKind;
using enum MetricType;
using enum Aggregation;
// The most read columns of each kind stand first: SQLite stops decoding a row at the last column asked for.
inline constexpr auto kMetrics = std::to_array<Metric>({
    // --- gpu
    {gpu, "energy", "j", "uj", 1e-6, counter, sum, "energy of the GPU since the first reading"},
    {gpu, "power_avg", "w", "mw", 1e-3, gauge, sum, "board power, averaged by the device over about 1 s"},
    {gpu, "power_inst", "w", "mw", 1e-3, gauge, sum, "board power, the device's latest short window (about 25 ms)"},
    {gpu, "utilization", "pct", "permille", 0.1, gauge, mean, "share of time with any kernel resident; not a measure of work"},
    {gpu, "sm_active", "pct", "permille", 0.1, gauge, mean, "share of cycles with a warp on the average SM"},
    {gpu, "tensor_active", "pct", "permille", 0.1, gauge, mean, "share of cycles that any tensor pipe is busy"},
    {gpu, "dram_active", "pct", "permille", 0.1, gauge, mean, "share of the device memory bandwidth in use"},
    {gpu, "sm_clock", "mhz", "mhz", 1, gauge, mean, "SM clock"},
    {gpu, "temperature", "c", "c", 1, gauge, max, "GPU temperature"},
    {gpu, "memory_used", "bytes", "bytes", 1, gauge, sum, "device memory in use"},
    {gpu, "power_limit_enforced", "w", "mw", 1e-3, gauge, sum, "power limit in force now, all limiters considered"},
    {gpu, "clock_event_reasons", "bits", "bits", 1, state, max, "reasons that hold the clocks, NVML bits"},
    {gpu, "memory_utilization", "pct", "permille", 0.1, gauge, mean, "share of time the memory was read or written"},
    {gpu, "sm_occupancy", "pct", "permille", 0.1, gauge, mean, "warps resident over the maximum, per SM"},
    {gpu, "fp64_active", "pct", "permille", 0.1, gauge, mean, "share of cycles that the FP64 pipe is busy"},
    {gpu, "fp32_active", "pct", "permille", 0.1, gauge, mean, "share of cycles that the FP32 pipe is busy"},
    {gpu, "fp16_active", "pct", "permille", 0.1, gauge, mean, "share of cycles that the FP16 pipe is busy (not tensor)"},
    {gpu, "integer_active", "pct", "permille", 0.1, gauge, mean, "share of cycles that the integer pipe is busy"},
    {gpu, "graphics_active", "pct", "permille", 0.1, gauge, mean, "share of time that any engine ran"},
    {gpu, "power_memory_avg", "w", "mw", 1e-3, gauge, sum, "power of the device memory, averaged by the device"},
    {gpu, "power_memory_inst", "w", "mw", 1e-3, gauge, sum, "power of the device memory, latest short window"},
    {gpu, "power_module_avg", "w", "mw", 1e-3, gauge, sum, "power of the whole superchip module, averaged"},
    {gpu, "power_module_inst", "w", "mw", 1e-3, gauge, sum, "power of the whole superchip module, latest short window"},
    {gpu, "energy_module", "j", "uj", 1e-6, counter, sum, "energy of the whole superchip module since the first reading"},
    {gpu, "energy_slice", "j", "uj", 1e-6, counter, sum, "energy of a MIG slice: its share of the parent by SM count, modelled"},
    {gpu, "memory_clock", "mhz", "mhz", 1, gauge, mean, "memory clock"},
    {gpu, "temperature_memory", "c", "c", 1, gauge, max, "temperature of the device memory"},
    {gpu, "temperature_margin", "c", "c", 1, gauge, max, "distance to the temperature at which the GPU slows down"},
    {gpu, "power_limit_requested", "w", "mw", 1e-3, gauge, sum, "power limit that was asked for"},
    {gpu, "performance_state", "pstate", "pstate", 1, state, max, "P-state, 0 is fastest"},
    {gpu, "fan_speed", "pct", "permille", 0.1, gauge, mean, "fan speed asked for"},
    {gpu, "pcie_gen", "gen", "gen", 1, state, max, "PCIe generation in use"},
    {gpu, "pcie_width", "lanes", "lanes", 1, state, max, "PCIe lanes in use"},
    {gpu, "pcie_tx", "bytes", "bytes", 1, counter, sum, "bytes sent over PCIe"},
    {gpu, "pcie_rx", "bytes", "bytes", 1, counter, sum, "bytes received over PCIe"},
    {gpu, "pcie_replays", "count", "count", 1, counter, sum, "PCIe packets sent again after an error"},
    {gpu, "nvlink_tx", "bytes", "bytes", 1, counter, sum, "bytes sent over all NVLinks"},
    {gpu, "nvlink_rx", "bytes", "bytes", 1, counter, sum, "bytes received over all NVLinks"},
    {gpu, "nvlink_links_up", "count", "count", 1, state, max, "NVLinks that are active"},
    {gpu, "ecc_corrected", "count", "count", 1, counter, sum, "memory errors corrected since driver load"},
    {gpu, "ecc_uncorrected", "count", "count", 1, counter, sum, "memory errors not corrected since driver load"},
    {gpu, "held_power_cap", "s", "ns", 1e-9, counter, max, "time that the power cap held the clocks"},
    {gpu, "held_sync_boost", "s", "ns", 1e-9, counter, max, "time that the sync boost group held the clocks"},
    {gpu, "held_sw_thermal", "s", "ns", 1e-9, counter, max, "time that software thermal slowdown held the clocks"},
    {gpu, "held_hw_thermal", "s", "ns", 1e-9, counter, max, "time that hardware thermal slowdown held the clocks"},
    {gpu, "held_power_brake", "s", "ns", 1e-9, counter, max, "time that the external power brake held the clocks"},
    {gpu, "processes", "count", "count", 1, gauge, sum, "processes with a compute context"},
    // --- cpu
    {cpu, "energy", "j", "uj", 1e-6, counter, sum, "energy of the package since the first reading"},
    {cpu, "power", "w", "mw", 1e-3, gauge, sum, "power of the package"},
    {cpu, "utilization", "pct", "permille", 0.1, gauge, mean, "share of CPU time that was not idle"},
    {cpu, "clock", "mhz", "mhz", 1, gauge, mean, "mean core clock"},
    {cpu, "temperature", "c", "c", 1, gauge, max, "package temperature"},
    // --- dram
    {dram, "energy", "j", "uj", 1e-6, counter, sum, "energy of the memory since the first reading"},
    {dram, "power", "w", "mw", 1e-3, gauge, sum, "power of the memory"},
    // --- node
    {node, "cpu_utilization", "pct", "permille", 0.1, gauge, mean, "share of the host's CPU time that was not idle"},
    {node, "iowait", "pct", "permille", 0.1, gauge, mean, "share of the host's CPU time idle with I/O outstanding"},
    {node, "memory_used", "bytes", "bytes", 1, gauge, sum, "host memory in use (total − available)"},
    {node, "power", "w", "mw", 1e-3, gauge, sum, "power of the whole node by its own meter"},
    {node, "energy", "j", "uj", 1e-6, counter, sum, "energy of the whole node by its own meter"},
    {node, "power_module", "w", "mw", 1e-3, gauge, sum, "power of superchip modules by the board's meter"},
    {node, "memory_cached", "bytes", "bytes", 1, gauge, sum, "page cache"},
    {node, "steal", "pct", "permille", 0.1, gauge, mean, "share of CPU time that the hypervisor gave to others"},
    {node, "threads_running", "count", "count", 1, gauge, sum, "runnable threads on the host"},
    {node, "threads_blocked", "count", "count", 1, gauge, sum, "threads waiting for I/O"},
    {node, "context_switches", "count", "count", 1, counter, sum, "context switches"},
    {node, "pressure_cpu", "s", "us", 1e-6, counter, max, "time that some thread waited for a CPU (PSI some)"},
    {node, "pressure_memory", "s", "us", 1e-6, counter, max, "time that some thread waited for memory (PSI some)"},
    {node, "pressure_io", "s", "us", 1e-6, counter, max, "time that some thread waited for I/O (PSI some)"},
    // --- nic
    {nic, "rx", "bytes", "bytes", 1, counter, sum, "bytes received"},
    {nic, "tx", "bytes", "bytes", 1, counter, sum, "bytes sent"},
    {nic, "errors", "count", "count", 1, counter, sum, "packets dropped or in error, both directions"},
    // --- disk
    {disk, "read", "bytes", "bytes", 1, counter, sum, "bytes read"},
    {disk, "written", "bytes", "bytes", 1, counter, sum, "bytes written"},
    {disk, "busy", "s", "ms", 1e-3, counter, max, "time with a request in flight"},
    // --- job
    {job, "cpu_time", "s", "us", 1e-6, counter, sum, "CPU time of the job's processes, ended ones included"},
    {job, "memory", "bytes", "bytes", 1, gauge, sum, "resident memory of the job's processes (shared pages counted in each)"},
    {job, "processes", "count", "count", 1, gauge, sum, "processes of the job"},
    {job, "threads", "count", "count", 1, gauge, sum, "threads of the job"},
    {job, "cpu_wait", "s", "ns", 1e-9, counter, sum, "time that the job's threads were runnable but had no CPU"},
    {job, "cpu_throttled", "s", "us", 1e-6, counter, max, "time that the CPU quota of the control group held the job"},
    {job, "read", "bytes", "bytes", 1, counter, sum, "bytes that the job's processes read from storage"},
    {job, "written", "bytes", "bytes", 1, counter, sum, "bytes that the job's processes wrote to storage"},
    {job, "threads_running", "count", "count", 1, gauge, sum, "threads of the job running or runnable (census)"},
    {job, "threads_sleeping", "count", "count", 1, gauge, sum, "threads of the job asleep (census)"},
    {job, "threads_blocked", "count", "count", 1, gauge, sum, "threads of the job in uninterruptible wait, mostly storage (census)"},
    {job, "workers", "count", "count", 1, gauge, sum, "data-loader worker processes (census)"},
    {job, "workers_cpu", "cores", "millicores", 1e-3, gauge, sum, "CPUs that data-loader workers kept busy since the last census"},
    {job, "workers_blocked", "count", "count", 1, gauge, sum, "data-loader workers that wait for data: in a read call, or in uninterruptible wait (census)"},
});
}  // namespace table

/// A row of the table.
enum class MetricId : std::uint16_t {};

[[nodiscard]] constexpr std::size_t position(MetricId id) { return static_cast<std::size_t>(id); }
[[nodiscard]] constexpr const Metric& info(MetricId id) { return table::kMetrics[position(id)]; }

/// The row by kind and name, at compile time; a name that is not in the table does not compile.
[[nodiscard]] consteval MetricId metric(DeviceKind kind, std::string_view name) {
  for (std::size_t i = 0; i < table::kMetrics.size(); ++i)
    if (table::kMetrics[i].kind == kind && table::kMetrics[i].name == name) return static_cast<MetricId>(i);
  throw "no such metric in the table";
}
/// The same at run time, by name, key ("power_avg_w") or column ("power_avg_mw").
[[nodiscard]] std::optional<MetricId> find_metric(DeviceKind kind, std::string_view name);

namespace table {
struct Block {
  std::size_t first = 0, count = 0;
};
/// Where the rows of each kind stand.
inline constexpr auto kBlocks = [] {
  std::array<Block, kDeviceKinds.size()> blocks{};
  for (std::size_t i = kMetrics.size(); i-- > 0;) {
    auto& block = blocks[static_cast<std::size_t>(kMetrics[i].kind)];
    block.first = i;
    ++block.count;
  }
  return blocks;
}();
}  // namespace table

/// Rows of one kind: they stand together in the table.
[[nodiscard]] constexpr std::size_t first_metric(DeviceKind kind) {
  return table::kBlocks[static_cast<std::size_t>(kind)].first;
}
[[nodiscard]] constexpr std::size_t metric_count(DeviceKind kind) {
  return table::kBlocks[static_cast<std::size_t>(kind)].count;
}
[[nodiscard]] constexpr std::span<const Metric> metrics_of(DeviceKind kind) {
  return std::span(table::kMetrics).subspan(first_metric(kind), metric_count(kind));
}
/// Place of the metric among those of its kind.
[[nodiscard]] constexpr std::size_t slot(MetricId id) { return position(id) - first_metric(info(id).kind); }
[[nodiscard]] constexpr MetricId metric_at(DeviceKind kind, std::size_t slot) {
  return static_cast<MetricId>(first_metric(kind) + slot);
}

}  // namespace gradwatt::record
