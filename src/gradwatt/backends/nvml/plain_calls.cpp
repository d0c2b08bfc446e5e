#include "gradwatt/backends/nvml/plain_calls.hpp"

#include <algorithm>

#include "gradwatt/backends/nvml/metrics.hpp"

namespace gradwatt::nvml {
namespace {

using namespace std::chrono_literals;
/// One call of the links takes many microseconds and the fan about 140 (measured by others): not in each tick.
constexpr auto kSlow = 10s;
/// The process list takes up to 5 ms; error totals rarely change.
constexpr auto kRare = 30s;
/// Highest process id that Linux gives out (PID_MAX_LIMIT).
constexpr unsigned kPidMax = 1U << 22U;

constexpr std::int64_t kPermillePerPercent = 10;
constexpr record::MetricId kNone{};

Return utilization(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  Utilization percent{};
  const Return code = call(nvml.device_utilization, gpu, &percent);
  out = {percent.gpu * kPermillePerPercent, percent.memory * kPermillePerPercent};
  return code;
}

Return clock_of(const Functions& nvml, DeviceHandle gpu, ClockType type, PlainValues& out) {
  unsigned mhz = 0;
  const Return code = call(nvml.device_clock, gpu, type, &mhz);
  out[0] = mhz;
  return code;
}
Return sm_clock(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  return clock_of(nvml, gpu, ClockType::sm, out);
}
Return memory_clock(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  return clock_of(nvml, gpu, ClockType::memory, out);
}

Return event_reasons(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  std::uint64_t bits = 0;
  const Return code = call(nvml.device_event_reasons, gpu, &bits);
  out[0] = static_cast<std::int64_t>(bits);
  return code;
}

Return temperature(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  TemperatureV1 now{version_word(sizeof(TemperatureV1), 1), TemperatureSensor::gpu, 0};
  const Return code = call(nvml.device_temperature_v, gpu, &now);
  out[0] = now.celsius;
  if (code != Return::function_not_found && code != Return::argument_version_mismatch) return code;
  unsigned celsius = 0;
  const Return older = call(nvml.device_temperature, gpu, TemperatureSensor::gpu, &celsius);
  out[0] = celsius;
  return older;
}

Return margin(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  MarginTemperatureV1 now{version_word(sizeof(MarginTemperatureV1), 1), 0};
  const Return code = call(nvml.device_margin, gpu, &now);
  out[0] = now.celsius;
  return code;
}

std::int64_t saturated(std::uint64_t bytes) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(bytes, INT64_MAX));
}

Return memory_used(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  MemoryV2 now{version_word(sizeof(MemoryV2), 2), 0, 0, 0, 0};
  const Return code = call(nvml.device_memory_v2, gpu, &now);
  out[0] = saturated(now.used);
  if (code != Return::function_not_found && code != Return::argument_version_mismatch) return code;
  MemoryV1 older{};
  const Return older_code = call(nvml.device_memory_v1, gpu, &older);
  out[0] = saturated(older.used);
  return older_code;
}

using UnsignedCall = Return (*)(DeviceHandle, unsigned*);
template <UnsignedCall Functions::*kFunction, std::int64_t kFactor = 1>
Return unsigned_value(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  unsigned value = 0;
  const Return code = call(nvml.*kFunction, gpu, &value);
  out[0] = value * kFactor;
  return code;
}

Return total_energy(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  std::uint64_t millijoules = 0;
  const Return code = call(nvml.device_total_energy, gpu, &millijoules);
  // Negative is refused by the caller's bounds; the multiplication must not overflow before.
  constexpr std::uint64_t kLargest = INT64_MAX / 1000;
  out[0] = millijoules > kLargest ? -1 : static_cast<std::int64_t>(millijoules) * 1000;
  return code;
}

Return links_up(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  constexpr unsigned kLinksMax = 18;  // NVML_NVLINK_MAX_LINKS
  std::int64_t up = 0;
  for (unsigned link = 0; link < kLinksMax; ++link) {
    unsigned active = 0;
    const Return code = call(nvml.device_nvlink_state, gpu, link, &active);
    if (code == Return::success)
      up += active == kFeatureOn ? 1 : 0;
    else if (link == 0 || (code != Return::invalid_argument && code != Return::not_supported))
      return code;
    else
      break;  // links past the last one of this device
  }
  out[0] = up;
  return Return::success;
}

Return ecc_errors(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  std::array<std::uint64_t, 2> errors{};
  for (const auto kind : {EccError::corrected, EccError::uncorrected}) {
    const auto i = static_cast<std::size_t>(kind);
    const Return code = call(nvml.device_ecc_errors, gpu, kind, EccCounter::since_driver_load, &errors[i]);
    if (code != Return::success) return code;
    out[i] = static_cast<std::int64_t>(errors[i]);  // all bits set becomes −1, which the bounds refuse
  }
  return Return::success;
}

/// Distinct process ids. Some drivers list one process once a context, and one release shipped a changed structure that
/// yields nonsense ids (nvitop #75): those are no reading.
template <class Process>
Return count_processes(Return (*list)(DeviceHandle, unsigned*, Process*), DeviceHandle gpu, PlainValues& out) {
  std::array<Process, 128> processes;
  auto count = static_cast<unsigned>(processes.size());
  const Return code = call(list, gpu, &count, processes.data());
  out[0] = count;
  if (code == Return::insufficient_size) return Return::success;
  if (code != Return::success || count > processes.size()) return code;
  std::array<unsigned, 128> pids{};
  for (unsigned i = 0; i < count; ++i) {
    if (processes[i].pid == 0 || processes[i].pid > kPidMax) return Return::argument_version_mismatch;
    pids[i] = processes[i].pid;
  }
  std::sort(pids.begin(), pids.begin() + count);
  out[0] = std::unique(pids.begin(), pids.begin() + count) - pids.begin();
  return code;
}

Return processes(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  if (nvml.device_processes_v2 != nullptr) return count_processes(nvml.device_processes_v2, gpu, out);
  return count_processes(nvml.device_processes_v1, gpu, out);
}

constexpr PlainCall one(std::string_view source, record::MetricId metric,
                        Return (*read)(const Functions&, DeviceHandle, PlainValues&), core::Duration cadence = {},
                        bool only_as_fallback = false, std::string_view note = {}) {
  return {source, {metric, kNone}, 1, read, cadence, note, only_as_fallback};
}

constexpr bool kFallback = true;
constexpr auto kCalls = std::to_array<PlainCall>({
    {"nvmlDeviceGetUtilizationRates", {metric::kUtilization, metric::kMemoryUtilization}, 2, utilization},
    one("nvmlDeviceGetClockInfo sm", metric::kSmClock, sm_clock),
    one("nvmlDeviceGetClockInfo memory", metric::kMemoryClock, memory_clock),
    one("nvmlDeviceGetCurrentClocksEventReasons", metric::kClockEventReasons, event_reasons),
    one("nvmlDeviceGetTemperature", metric::kTemperature, temperature),
    one("nvmlDeviceGetMarginTemperature", metric::kTemperatureMargin, margin),
    one("nvmlDeviceGetMemoryInfo", metric::kMemoryUsed, memory_used),
    one("nvmlDeviceGetPerformanceState", metric::kPerformanceState,
        unsigned_value<&Functions::device_performance_state>),
    one("nvmlDeviceGetTotalEnergyConsumption", metric::kEnergy, total_energy, {}, kFallback,
        "counter without a scope; of a superchip it may hold CPU and memory too"),
    one("nvmlDeviceGetEnforcedPowerLimit", metric::kPowerLimitEnforced,
        unsigned_value<&Functions::device_limit_enforced>, {}, kFallback),
    one("nvmlDeviceGetPowerManagementLimit", metric::kPowerLimitRequested,
        unsigned_value<&Functions::device_limit_requested>, {}, kFallback),
    one("nvmlDeviceGetPcieReplayCounter", metric::kPcieReplays, unsigned_value<&Functions::device_pcie_replays>, kSlow,
        kFallback),
    one("nvmlDeviceGetFanSpeed", metric::kFanSpeed, unsigned_value<&Functions::device_fan, kPermillePerPercent>, kSlow),
    one("nvmlDeviceGetCurrPcieLinkGeneration", metric::kPcieGen, unsigned_value<&Functions::device_pcie_gen>, kSlow),
    one("nvmlDeviceGetCurrPcieLinkWidth", metric::kPcieWidth, unsigned_value<&Functions::device_pcie_width>, kSlow),
    one("nvmlDeviceGetNvLinkState", metric::kNvlinkLinksUp, links_up, kSlow),
    {"nvmlDeviceGetTotalEccErrors", {metric::kEccCorrected, metric::kEccUncorrected}, 2, ecc_errors, kRare},
    one("nvmlDeviceGetComputeRunningProcesses", metric::kProcesses, processes, kRare, false,
        "processes of the whole GPU, as the driver lists them; other containers may be missing"),
});

}  // namespace

std::span<const PlainCall> plain_call_table() { return kCalls; }

Return read_power_usage(const Functions& nvml, DeviceHandle gpu, PlainValues& out) {
  return unsigned_value<&Functions::device_power_usage>(nvml, gpu, out);
}

}  // namespace gradwatt::nvml
