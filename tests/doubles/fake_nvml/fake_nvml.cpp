// The exported functions of the fake driver library. Names and signatures are NVML's: the product finds them by dlsym
// as it finds the real ones. Nothing here can be set: gradwatt's sensor must not even try.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "tests/doubles/fake_nvml/machine.hpp"

namespace {

using namespace gradwatt::nvml;
using namespace gradwatt::doubles;

Machine& machine() {
  // A library has no main() that could hold its state; made at the first call.
  static Machine instance;
  return instance;
}

FakeDevice* find(DeviceHandle handle) { return machine().device(handle); }
const DeviceClass& model_of(const FakeDevice& device) { return *machine().gpu(device).model; }
double setting(const FakeDevice& device, std::string_view key, double otherwise) {
  return machine().gpu(device).number(key, otherwise);
}

/// Common beginning of every call about a device. `offered`: the device class has this reading.
Return begin(const char* function, const FakeDevice* device, bool offered = true) {
  if (!machine().started()) return Return::uninitialized;
  if (device == nullptr) return Return::invalid_argument;
  const Return code = machine().enter(function, device);
  if (code != Return::success) return code;
  return offered ? Return::success : Return::not_supported;
}

template <class Integer>
Return answer(const char* function, const FakeDevice* device, bool offered, double number, Integer* out,
              std::string_view alias = {}) {
  const Return code = begin(function, device, offered);
  if (code != Return::success) return code;
  FakeAnswer made{Return::success, ValueType::u32, number};
  machine().distort(made, function, alias, *device);
  // Through 64 bits: a script may ask for a sentinel that wraps in a narrower type.
  if (made.code == Return::success) *out = static_cast<Integer>(static_cast<std::uint64_t>(std::round(made.number)));
  return made.code;
}

bool whole(const FakeDevice* device) { return device != nullptr && !device->slice; }

Return copy(const std::string& text, char* out, unsigned length) {
  if (text.size() + 1 > length) return Return::insufficient_size;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Return::success;
}

double memory_share_of_power() { return 0.2; }
double module_extra_w() { return 150; }
constexpr std::int64_t kSecond = 1'000'000'000;

double instant_window(const DeviceClass& model) {
  return model.architecture == Architecture::volta || model.architecture == Architecture::pascal ? 10e6 : 25e6;
}
double average_mw(const FakeDevice& d) { return machine().average_w(d, kSecond) * 1e3; }
double instant_mw(const FakeDevice& d) {
  return machine().average_w(d, static_cast<std::int64_t>(instant_window(model_of(d)))) * 1e3;
}
/// As somebody set it, and as it is in force: a machine's management may hold it lower.
double requested_limit_mw(const FakeDevice& d) { return setting(d, "limit", model_of(d).limit_default_w) * 1e3; }
double enforced_limit_mw(const FakeDevice& d) {
  return setting(d, "limit_enforced", requested_limit_mw(d) * 1e-3) * 1e3;
}

struct FieldAnswer {
  bool offered = false;
  ValueType type = ValueType::u64;
  double number = 0;
  std::string_view alias = {};
};

FieldAnswer power_field(const FakeDevice& d, unsigned id, unsigned scope_id) {
  const DeviceClass& model = model_of(d);
  const bool average = id == field::kPowerAverage;
  const bool offered = average ? model.field_average : model.field_instant;
  const double mw = average ? average_mw(d) : instant_mw(d);
  if (scope_id == scope::kGpu) return {offered, ValueType::u32, mw, "power"};
  if (scope_id == scope::kMemory) return {offered && model.memory_power, ValueType::u32, mw * memory_share_of_power()};
  if (scope_id == scope::kModule) return {offered && model.module_power, ValueType::u32, mw + module_extra_w() * 1e3};
  return {};
}

/// A counter that grows evenly with time.
FieldAnswer rate_field(bool offered, double per_second) {
  return {offered, ValueType::u64, std::floor(per_second * static_cast<double>(machine().now_ns()) * 1e-9)};
}

FieldAnswer field_of(const FakeDevice& d, unsigned id, unsigned scope_id) {
  const DeviceClass& model = model_of(d);
  switch (id) {
    case field::kPowerAverage:
    case field::kPowerInstant:
      return power_field(d, id, scope_id);
    case field::kEnergy:
      if (scope_id == scope::kModule)
        return {model.energy_field && model.module_power, ValueType::u64, machine().energy_mj(d, true)};
      return {model.energy_field && scope_id == scope::kGpu, ValueType::u64, machine().energy_mj(d, false), "energy"};
    case field::kEnergyPlain:
      return {model.energy_counter, ValueType::u64, machine().energy_mj(d, model.module_power), "energy"};
    case field::kTemperatureMemory:
      return {model.memory_temperature, ValueType::u32, setting(d, "temperature_memory", 70)};
    case field::kPowerLimitEnforced:
      return {model.limit_max_w > 0 && model.energy_field, ValueType::u32, enforced_limit_mw(d)};
    case field::kPowerLimitRequested:
      return {model.limit_max_w > 0 && model.energy_field, ValueType::u32, requested_limit_mw(d)};
    case field::kHeldPowerCap:
      return rate_field(!model.vgpu, setting(d, "held_power_cap", 0) * 1e9);
    case field::kHeldSyncBoost:
    case field::kHeldSwThermal:
    case field::kHeldHwThermal:
    case field::kHeldPowerBrake:
      return rate_field(!model.vgpu, 0);
    case field::kPcieTxBytes:
      return rate_field(model.pcie_bytes, setting(d, "pcie_tx", 1e9));
    case field::kPcieRxBytes:
      return rate_field(model.pcie_bytes, setting(d, "pcie_rx", 2e9));
    case field::kPcieReplays:
      return {!model.vgpu, ValueType::u32, setting(d, "pcie_replays", 0)};
    case field::kNvlinkDataTx:
    case field::kNvlinkDataRx:
      return rate_field(model.nvlinks > 0 && scope_id == scope::kAllLinks, setting(d, "nvlink", 10e9) / 1024);
    case field::kC2cCount:
      return {model.module_power, ValueType::u32, 1};
    default:
      return {};
  }
}

void store(FieldValue& out, ValueType type, double number) {
  out.value.u64 = 0;
  if (type != ValueType::f64) number = std::round(number);
  switch (type) {
    case ValueType::f64:
      out.value.f64 = number;
      break;
    case ValueType::s32:
      out.value.s32 = static_cast<std::int32_t>(number);
      break;
    case ValueType::s64:
      out.value.s64 = static_cast<std::int64_t>(number);
      break;
    case ValueType::u32:
      out.value.u32 = static_cast<std::uint32_t>(static_cast<std::int64_t>(number));
      break;
    case ValueType::u16:
      out.value.u16 = static_cast<std::uint16_t>(static_cast<std::int64_t>(number));
      break;
    default:
      // 2^64 − 1 is no double: what rounds up to 2^64 is meant to be that sentinel.
      out.value.u64 = number >= 18446744073709551615.0 ? UINT64_MAX : static_cast<std::uint64_t>(number);
  }
}

void answer_field(const FakeDevice& device, FieldValue& out) {
  const FieldAnswer found = device.slice ? FieldAnswer{} : field_of(device, out.field, out.scope);
  FakeAnswer made{found.offered ? Return::success : Return::not_supported, found.type, found.number};
  if (!machine().script().faults.empty()) {
    const auto target = "field:" + std::to_string(out.field) + ":" + std::to_string(out.scope);
    if (found.offered) machine().distort(made, target, found.alias, device);
  }
  out.timestamp_us = machine().now_ns() / 1000;
  out.latency_us = 1;
  out.code = made.code;
  out.type = made.type;
  if (made.code == Return::success) store(out, made.type, made.number);
}

struct FakeSample {
  std::int64_t at_ns = -1;
  const FakeDevice* gpu = nullptr;
  unsigned gpu_instance = 0;
};

double activity(const FakeDevice& gpu, unsigned id, bool& known) {
  struct Row {
    unsigned id;
    const char* key;
    double otherwise;
  };
  for (const Row& row : {Row{1, "graphics_active", 97}, Row{2, "sm_active", 80}, Row{3, "sm_occupancy", 40},
                         Row{4, "integer_active", 8}, Row{5, "tensor_active", 35}, Row{10, "dram_active", 45},
                         Row{11, "fp64_active", 0}, Row{12, "fp32_active", 12}, Row{13, "fp16_active", 3}})
    if (row.id == id) {
      known = true;
      return setting(gpu, row.key, row.otherwise);
    }
  known = false;
  return 0;
}

Return take_sample(const char* function, FakeDevice* gpu, unsigned gpu_instance, GpmSampleHandle handle) {
  const Return code = begin(function, gpu, whole(gpu) && model_of(*gpu).gpm);
  if (code != Return::success) return code;
  *reinterpret_cast<FakeSample*>(handle) = {machine().now_ns(), gpu, gpu_instance};
  return Return::success;
}

template <class Process>
Return list_processes(const char* function, FakeDevice* device, unsigned* count, Process* out) {
  const Return code = begin(function, device);
  if (code != Return::success) return code;
  const auto& pids = machine().gpu(*device).pids;
  const auto room = *count;
  *count = static_cast<unsigned>(pids.size());
  if (room < pids.size()) return Return::insufficient_size;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    out[i] = {};
    out[i].pid = pids[i];
  }
  return Return::success;
}

}  // namespace

#define FAKE extern "C" __attribute__((visibility("default")))

// ---- for tests: the clock, and the record of use
FAKE void fake_nvml_set_time_ns(std::int64_t ns) { machine().set_time_ns(ns); }
FAKE std::int64_t fake_nvml_time_ns() { return machine().now_ns(); }
FAKE void fake_nvml_reset() { machine().forget(); }
FAKE std::int64_t fake_nvml_calls(const char* function) { return machine().calls(function); }

// ---- library and devices
FAKE Return nvmlInit() { return machine().start(); }
FAKE Return nvmlInit_v2() { return machine().start(); }
FAKE Return nvmlShutdown() {
  machine().stop();
  return machine().enter("nvmlShutdown", nullptr);
}
FAKE Return nvmlSystemGetDriverVersion(char* out, unsigned length) {
  return copy(machine().script().driver, out, length);
}
FAKE Return nvmlSystemGetCudaDriverVersion(int* out) { return *out = 12040, Return::success; }
FAKE Return nvmlDeviceGetCount_v2(unsigned* out) {
  if (!machine().started()) return Return::uninitialized;
  *out = static_cast<unsigned>(machine().script().gpus.size());
  return machine().enter("nvmlDeviceGetCount", nullptr);
}
FAKE Return nvmlDeviceGetCount(unsigned* out) { return nvmlDeviceGetCount_v2(out); }
FAKE Return nvmlDeviceGetHandleByIndex_v2(unsigned index, DeviceHandle* out) {
  for (const auto& device : machine().devices()) {
    if (device->gpu != index || device->slice) continue;
    *out = reinterpret_cast<DeviceHandle>(device.get());
    return begin("nvmlDeviceGetHandleByIndex", device.get());
  }
  return Return::invalid_argument;
}
FAKE Return nvmlDeviceGetHandleByIndex(unsigned index, DeviceHandle* out) {
  return nvmlDeviceGetHandleByIndex_v2(index, out);
}

// ---- identity
FAKE Return nvmlDeviceGetName(DeviceHandle handle, char* out, unsigned length) {
  const auto* d = find(handle);
  const Return code = begin("nvmlDeviceGetName", d);
  if (code != Return::success) return code;
  std::string name(model_of(*d).product);
  if (d->slice) name += " MIG " + std::to_string(machine().gpu(*d).mig[*d->slice].slices) + "g";
  return copy(name, out, length);
}
FAKE Return nvmlDeviceGetUUID(DeviceHandle handle, char* out, unsigned length) {
  const auto* d = find(handle);
  const Return code = begin("nvmlDeviceGetUUID", d);
  return code == Return::success ? copy(d->uuid, out, length) : code;
}
FAKE Return nvmlDeviceGetMinorNumber(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  return answer("nvmlDeviceGetMinorNumber", d, whole(d), d != nullptr ? static_cast<double>(d->gpu) : 0, out);
}
FAKE Return nvmlDeviceGetPciInfo_v3(DeviceHandle handle, PciInfo* out) {
  const auto* d = find(handle);
  const Return code = begin("nvmlDeviceGetPciInfo", d, whole(d));
  if (code != Return::success) return code;
  *out = {};
  out->bus = static_cast<unsigned>(d->gpu + 1);
  std::snprintf(out->bus_id, sizeof out->bus_id, "00000000:%02X:00.0", out->bus);
  return code;
}
FAKE Return nvmlDeviceGetArchitecture(DeviceHandle handle, Architecture* out) {
  const auto* d = find(handle);
  const Return code = begin("nvmlDeviceGetArchitecture", d);
  if (code == Return::success) *out = model_of(*d).architecture;
  return code;
}
FAKE Return nvmlDeviceGetCudaComputeCapability(DeviceHandle handle, int* major, int* minor) {
  const auto* d = find(handle);
  const Return code = begin("nvmlDeviceGetCudaComputeCapability", d);
  if (code != Return::success) return code;
  *major = model_of(*d).compute_major;
  *minor = model_of(*d).compute_minor;
  return code;
}
FAKE Return nvmlDeviceGetNumGpuCores(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  return answer("nvmlDeviceGetNumGpuCores", d, whole(d), whole(d) ? model_of(*d).cores : 0, out);
}
FAKE Return nvmlDeviceGetVirtualizationMode(DeviceHandle handle, Virtualization* out) {
  const auto* d = find(handle);
  const Return code = begin("nvmlDeviceGetVirtualizationMode", d);
  if (code == Return::success) *out = model_of(*d).vgpu ? Virtualization::vgpu_guest : Virtualization::none;
  return code;
}
FAKE Return nvmlDeviceGetPersistenceMode(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  return answer("nvmlDeviceGetPersistenceMode", d, whole(d), whole(d) ? setting(*d, "persistence", 1) : 0, out);
}
FAKE Return nvmlDeviceGetEccMode(DeviceHandle handle, unsigned* out, unsigned* pending) {
  const auto* d = find(handle);
  *pending = 1;
  return answer("nvmlDeviceGetEccMode", d, whole(d) && model_of(*d).ecc, 1, out);
}

// ---- power and energy
FAKE Return nvmlDeviceGetPowerUsage(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && model_of(*d).classic_power;
  double mw = 0;
  if (offered) {
    mw = model_of(*d).classic_is_average ? average_mw(*d) : instant_mw(*d);
    if (model_of(*d).module_power) mw += module_extra_w() * 1e3;
  }
  return answer("nvmlDeviceGetPowerUsage", d, offered, mw, out, "power");
}
FAKE Return nvmlDeviceGetTotalEnergyConsumption(DeviceHandle handle, std::uint64_t* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && model_of(*d).energy_counter;
  const double mj = offered ? machine().energy_mj(*d, model_of(*d).module_power) : 0;
  return answer("nvmlDeviceGetTotalEnergyConsumption", d, offered, mj, out, "energy");
}
FAKE Return nvmlDeviceGetEnforcedPowerLimit(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && model_of(*d).limit_max_w > 0;
  return answer("nvmlDeviceGetEnforcedPowerLimit", d, offered, offered ? enforced_limit_mw(*d) : 0,
                out);
}
FAKE Return nvmlDeviceGetPowerManagementLimit(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && model_of(*d).limit_max_w > 0;
  return answer("nvmlDeviceGetPowerManagementLimit", d, offered, offered ? requested_limit_mw(*d) : 0, out);
}
FAKE Return nvmlDeviceGetPowerManagementDefaultLimit(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && model_of(*d).limit_max_w > 0;
  return answer("nvmlDeviceGetPowerManagementDefaultLimit", d, offered,
                offered ? model_of(*d).limit_default_w * 1e3 : 0, out);
}
FAKE Return nvmlDeviceGetPowerManagementLimitConstraints(DeviceHandle handle, unsigned* low, unsigned* high) {
  const auto* d = find(handle);
  const bool offered = whole(d) && model_of(*d).limit_max_w > 0;
  const Return code = begin("nvmlDeviceGetPowerManagementLimitConstraints", d, offered);
  if (code != Return::success) return code;
  *low = model_of(*d).limit_min_w * 1000;
  *high = model_of(*d).limit_max_w * 1000;
  return code;
}
FAKE Return nvmlDeviceGetFieldValues(DeviceHandle handle, int count, FieldValue* values) {
  const auto* d = find(handle);
  const Return code = begin("nvmlDeviceGetFieldValues", d);
  if (code != Return::success) return code;
  if (d->slice) return Return::not_supported;
  for (int i = 0; i < count; ++i) answer_field(*d, values[i]);
  return Return::success;
}

// ---- activity, clocks, temperatures
FAKE Return nvmlDeviceGetUtilizationRates(DeviceHandle handle, Utilization* out) {
  const auto* d = find(handle);
  // With MIG on there is no utilisation, not even of the whole GPU.
  const bool offered = whole(d) && model_of(*d).utilization && machine().gpu(*d).mig.empty();
  out->memory = offered ? static_cast<unsigned>(setting(*d, "memory_utilization", 40)) : 0;
  return answer("nvmlDeviceGetUtilizationRates", d, offered, offered ? setting(*d, "utilization", 99) : 0, &out->gpu);
}
FAKE Return nvmlDeviceGetMemoryInfo_v2(DeviceHandle handle, MemoryV2* out) {
  const auto* d = find(handle);
  if (out->version != version_word(sizeof(MemoryV2), 2)) return Return::argument_version_mismatch;
  double gib = d != nullptr ? model_of(*d).memory_gib : 0;
  if (d != nullptr && d->slice) gib = gib * machine().gpu(*d).mig[*d->slice].slices / 8;
  out->total = static_cast<std::uint64_t>(gib * (1U << 30U));
  out->reserved = std::uint64_t{1} << 29U;
  const double used = d != nullptr ? setting(*d, "memory_used", gib * (1U << 30U) / 2) : 0;
  const Return code = answer("nvmlDeviceGetMemoryInfo", d, d != nullptr, used, &out->used);
  out->free = out->total - std::min(out->total, out->used);
  return code;
}
FAKE Return nvmlDeviceGetMemoryInfo(DeviceHandle handle, MemoryV1* out) {
  MemoryV2 newer{version_word(sizeof(MemoryV2), 2), 0, 0, 0, 0};
  const Return code = nvmlDeviceGetMemoryInfo_v2(handle, &newer);
  *out = {newer.total, newer.free, newer.used + newer.reserved};
  return code;
}
FAKE Return nvmlDeviceGetClockInfo(DeviceHandle handle, ClockType type, unsigned* out) {
  const auto* d = find(handle);
  double mhz = 0;
  if (whole(d))
    mhz = type == ClockType::memory ? model_of(*d).memory_clock_mhz
                                    : setting(*d, "sm_clock", model_of(*d).sm_clock_max_mhz - 100.0);
  return answer("nvmlDeviceGetClockInfo", d, whole(d), mhz, out);
}
FAKE Return nvmlDeviceGetMaxClockInfo(DeviceHandle handle, ClockType type, unsigned* out) {
  const auto* d = find(handle);
  double mhz = 0;
  if (whole(d)) mhz = type == ClockType::memory ? model_of(*d).memory_clock_mhz : model_of(*d).sm_clock_max_mhz;
  return answer("nvmlDeviceGetMaxClockInfo", d, whole(d), mhz, out);
}
FAKE Return nvmlDeviceGetCurrentClocksEventReasons(DeviceHandle handle, std::uint64_t* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && !model_of(*d).vgpu;
  return answer("nvmlDeviceGetCurrentClocksEventReasons", d, offered, offered ? setting(*d, "event_reasons", 0) : 0,
                out);
}
FAKE Return nvmlDeviceGetCurrentClocksThrottleReasons(DeviceHandle handle, std::uint64_t* out) {
  return nvmlDeviceGetCurrentClocksEventReasons(handle, out);
}
FAKE Return nvmlDeviceGetTemperature(DeviceHandle handle, TemperatureSensor, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && !model_of(*d).vgpu;
  return answer("nvmlDeviceGetTemperature", d, offered, offered ? setting(*d, "temperature", 62) : 0, out);
}
FAKE Return nvmlDeviceGetTemperatureV(DeviceHandle handle, TemperatureV1* out) {
  if (out->version != version_word(sizeof(TemperatureV1), 1)) return Return::argument_version_mismatch;
  unsigned celsius = 0;
  const Return code = nvmlDeviceGetTemperature(handle, out->sensor, &celsius);
  out->celsius = static_cast<int>(celsius);
  return code;
}
FAKE Return nvmlDeviceGetTemperatureThreshold(DeviceHandle handle, TemperatureThreshold which, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && !model_of(*d).vgpu && which != TemperatureThreshold::memory_max;
  const double celsius = which == TemperatureThreshold::shutdown   ? 92
                         : which == TemperatureThreshold::slowdown ? 89
                                                                   : 87;
  return answer("nvmlDeviceGetTemperatureThreshold", d, offered, celsius, out);
}
FAKE Return nvmlDeviceGetMarginTemperature(DeviceHandle handle, MarginTemperatureV1* out) {
  const auto* d = find(handle);
  if (out->version != version_word(sizeof(MarginTemperatureV1), 1)) return Return::argument_version_mismatch;
  const bool offered = whole(d) && model_of(*d).margin;
  return answer("nvmlDeviceGetMarginTemperature", d, offered, offered ? 87 - setting(*d, "temperature", 62) : 0,
                &out->celsius);
}
FAKE Return nvmlDeviceGetPerformanceState(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  return answer("nvmlDeviceGetPerformanceState", d, whole(d), whole(d) ? setting(*d, "performance_state", 0) : 0, out);
}
FAKE Return nvmlDeviceGetFanSpeed(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && model_of(*d).fan;
  return answer("nvmlDeviceGetFanSpeed", d, offered, offered ? setting(*d, "fan", 45) : 0, out);
}

// ---- links, health, processes
FAKE Return nvmlDeviceGetCurrPcieLinkGeneration(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && !model_of(*d).vgpu;
  return answer("nvmlDeviceGetCurrPcieLinkGeneration", d, offered,
                offered ? setting(*d, "pcie_gen", model_of(*d).pcie_gen) : 0, out);
}
FAKE Return nvmlDeviceGetMaxPcieLinkGeneration(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && !model_of(*d).vgpu;
  return answer("nvmlDeviceGetMaxPcieLinkGeneration", d, offered, offered ? model_of(*d).pcie_gen : 0, out);
}
FAKE Return nvmlDeviceGetCurrPcieLinkWidth(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && !model_of(*d).vgpu;
  return answer("nvmlDeviceGetCurrPcieLinkWidth", d, offered,
                offered ? setting(*d, "pcie_width", model_of(*d).pcie_width) : 0, out);
}
FAKE Return nvmlDeviceGetMaxPcieLinkWidth(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && !model_of(*d).vgpu;
  return answer("nvmlDeviceGetMaxPcieLinkWidth", d, offered, offered ? model_of(*d).pcie_width : 0, out);
}
FAKE Return nvmlDeviceGetPcieReplayCounter(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && !model_of(*d).vgpu;
  return answer("nvmlDeviceGetPcieReplayCounter", d, offered, offered ? setting(*d, "pcie_replays", 0) : 0, out);
}
FAKE Return nvmlDeviceGetNvLinkState(DeviceHandle handle, unsigned link, unsigned* active) {
  const auto* d = find(handle);
  const bool offered = whole(d) && link < model_of(*d).nvlinks;
  const double up = offered && link < setting(*d, "nvlinks_up", model_of(*d).nvlinks) ? 1 : 0;
  return answer("nvmlDeviceGetNvLinkState", d, offered, up, active);
}
FAKE Return nvmlDeviceGetTotalEccErrors(DeviceHandle handle, EccError kind, EccCounter, std::uint64_t* out) {
  const auto* d = find(handle);
  const bool offered = whole(d) && model_of(*d).ecc;
  const char* key = kind == EccError::corrected ? "ecc_corrected" : "ecc_uncorrected";
  return answer("nvmlDeviceGetTotalEccErrors", d, offered, offered ? setting(*d, key, 0) : 0, out);
}
FAKE Return nvmlDeviceGetComputeRunningProcesses(DeviceHandle handle, unsigned* count, ProcessV1* out) {
  return list_processes("nvmlDeviceGetComputeRunningProcesses", find(handle), count, out);
}
FAKE Return nvmlDeviceGetComputeRunningProcesses_v3(DeviceHandle handle, unsigned* count, ProcessV2* out) {
  return list_processes("nvmlDeviceGetComputeRunningProcesses", find(handle), count, out);
}

// ---- MIG
FAKE Return nvmlDeviceGetMigMode(DeviceHandle handle, unsigned* mode, unsigned* pending) {
  const auto* d = find(handle);
  const bool offered = whole(d) && model_of(*d).mig_capable;
  *pending = offered && !machine().gpu(*d).mig.empty() ? 1 : 0;
  return answer("nvmlDeviceGetMigMode", d, offered, *pending, mode);
}
FAKE Return nvmlDeviceGetMaxMigDeviceCount(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  return answer("nvmlDeviceGetMaxMigDeviceCount", d, whole(d), 7, out);
}
FAKE Return nvmlDeviceGetMigDeviceHandleByIndex(DeviceHandle handle, unsigned index, DeviceHandle* out) {
  const auto* parent = find(handle);
  const Return code = begin("nvmlDeviceGetMigDeviceHandleByIndex", parent, whole(parent));
  if (code != Return::success) return code;
  for (const auto& device : machine().devices())
    if (device->gpu == parent->gpu && device->slice == index)
      return *out = reinterpret_cast<DeviceHandle>(device.get()), Return::success;
  return Return::not_found;
}
FAKE Return nvmlDeviceGetGpuInstanceId(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  const bool slice = d != nullptr && d->slice;
  return answer("nvmlDeviceGetGpuInstanceId", d, slice, slice ? d->gpu_instance : 0, out);
}
FAKE Return nvmlDeviceGetComputeInstanceId(DeviceHandle handle, unsigned* out) {
  const auto* d = find(handle);
  return answer("nvmlDeviceGetComputeInstanceId", d, d != nullptr && d->slice, 0, out);
}
FAKE Return nvmlDeviceGetAttributes_v2(DeviceHandle handle, DeviceAttributes* out) {
  const auto* d = find(handle);
  const Return code = begin("nvmlDeviceGetAttributes", d, d != nullptr && d->slice);
  if (code != Return::success) return code;
  *out = {};
  out->gpu_instance_slices = machine().gpu(*d).mig[*d->slice].slices;
  out->compute_instance_slices = out->gpu_instance_slices;
  // 7 slices of 14 (GA100) or 16 (GH100) SMs.
  out->multiprocessors = out->gpu_instance_slices * (model_of(*d).compute_major == 8 ? 14 : 16);
  out->memory_mib = model_of(*d).memory_gib * 1024ULL * out->gpu_instance_slices / 8;
  return code;
}

// ---- GPM
FAKE Return nvmlGpmQueryDeviceSupport(DeviceHandle handle, GpmSupport* out) {
  const auto* d = find(handle);
  if (out->version != kGpmVersion) return Return::argument_version_mismatch;
  return answer("nvmlGpmQueryDeviceSupport", d, true, d != nullptr && model_of(*d).gpm ? 1 : 0, &out->supported);
}
FAKE Return nvmlGpmSampleAlloc(GpmSampleHandle* out) {
  *out = reinterpret_cast<GpmSampleHandle>(new FakeSample);
  return Return::success;
}
FAKE Return nvmlGpmSampleFree(GpmSampleHandle sample) {
  delete reinterpret_cast<FakeSample*>(sample);
  return Return::success;
}
FAKE Return nvmlGpmSampleGet(DeviceHandle handle, GpmSampleHandle sample) {
  return take_sample("nvmlGpmSampleGet", find(handle), 0, sample);
}
FAKE Return nvmlGpmMigSampleGet(DeviceHandle handle, unsigned gpu_instance, GpmSampleHandle sample) {
  return take_sample("nvmlGpmMigSampleGet", find(handle), gpu_instance, sample);
}
FAKE Return nvmlGpmMetricsGet(GpmRequest* request) {
  const auto* older = reinterpret_cast<const FakeSample*>(request->older);
  const auto* newer = reinterpret_cast<const FakeSample*>(request->newer);
  if (request->version != kGpmVersion) return Return::argument_version_mismatch;
  // The two must be of one device, in order, and at least 100 ms apart.
  if (older->gpu == nullptr || older->gpu != newer->gpu || older->gpu_instance != newer->gpu_instance ||
      newer->at_ns - older->at_ns < 100'000'000)
    return Return::invalid_argument;
  const Return code = begin("nvmlGpmMetricsGet", newer->gpu);
  if (code != Return::success) return code;
  for (unsigned i = 0; i < request->count; ++i) {
    GpmMetric& metric = request->metrics[i];
    bool known = false;
    FakeAnswer made{Return::success, ValueType::f64, activity(*newer->gpu, metric.id, known)};
    if (!known) made.code = Return::not_supported;
    if (!machine().script().faults.empty())
      machine().distort(made, "gpm:" + std::to_string(metric.id), {}, *newer->gpu);
    metric.code = made.code;
    metric.value = made.number;
  }
  return Return::success;
}
