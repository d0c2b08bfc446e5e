#include "gradwatt/backends/nvml/description.hpp"

#include <fmt/format.h>

#include <array>

namespace gradwatt::nvml {
namespace {

/// A counter that grows faster than this times the highest limit is a glitch.
constexpr double kRateOverLimit = 1.5;
/// The module's own limit is not readable everywhere: GPU limit plus as much again for CPU and memory.
constexpr double kModuleRateOverLimit = 3.0;
constexpr unsigned kLimitMw = 100'000'000;

std::optional<unsigned> read_unsigned(Return (*function)(DeviceHandle, unsigned*), DeviceHandle gpu, unsigned most) {
  unsigned value = 0;
  if (call(function, gpu, &value) != Return::success || value == 0 || value > most) return std::nullopt;
  return value;
}

void set(record::Device& device, const char* name, std::optional<unsigned> value) {
  if (value) device.attributes[name] = std::to_string(*value);
}
void set_watts(record::Device& device, const char* name, std::optional<unsigned> milliwatts) {
  if (milliwatts) device.attributes[name] = fmt::format("{:g}", *milliwatts * 1e-3);
}

void describe_power(const Functions& nvml, const Gpu& gpu, Description& out) {
  unsigned low = 0;
  unsigned high = 0;
  std::optional<unsigned> highest;
  if (call(nvml.device_limit_range, gpu.handle, &low, &high) == Return::success && high > 0 && high <= kLimitMw &&
      low <= high) {
    if (low > 0) set_watts(out.device, "power_limit_min_w", low);
    set_watts(out.device, "power_limit_max_w", high);
    highest = high;
  }
  const auto enforced = read_unsigned(nvml.device_limit_enforced, gpu.handle, kLimitMw);
  set_watts(out.device, "power_limit_enforced_w", enforced);
  set_watts(out.device, "power_limit_requested_w", read_unsigned(nvml.device_limit_requested, gpu.handle, kLimitMw));
  set_watts(out.device, "power_limit_default_w", read_unsigned(nvml.device_limit_default, gpu.handle, kLimitMw));
  if (!highest) highest = enforced;
  if (!highest) return;
  out.limits.power_limit_max_mw = *highest;
  out.ceilings.energy_w = *highest * 1e-3 * kRateOverLimit;
  out.ceilings.module_energy_w = *highest * 1e-3 * kModuleRateOverLimit;
}

void describe_memory(const Functions& nvml, const Gpu& gpu, Description& out) {
  MemoryV2 v2{version_word(sizeof(MemoryV2), 2), 0, 0, 0, 0};
  std::uint64_t total = 0;
  if (call(nvml.device_memory_v2, gpu.handle, &v2) == Return::success) {
    total = v2.total;
  } else if (MemoryV1 v1{}; call(nvml.device_memory_v1, gpu.handle, &v1) == Return::success) {
    total = v1.total;
  }
  constexpr std::uint64_t kMost = std::uint64_t{1} << 44U;
  if (total == 0 || total > kMost) return;
  out.limits.memory_total_bytes = static_cast<std::int64_t>(total);
  out.device.attributes["memory_total_bytes"] = std::to_string(total);
}

void describe_links(const Functions& nvml, const Gpu& gpu, Description& out) {
  // Bytes a second and lane of PCIe generations 1 to 6, one direction.
  constexpr std::array kLaneBytes{0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9};
  const auto gen = read_unsigned(nvml.device_pcie_gen_max, gpu.handle, 8);
  const auto width = read_unsigned(nvml.device_pcie_width_max, gpu.handle, 32);
  set(out.device, "pcie_gen_max", gen);
  set(out.device, "pcie_width_max", width);
  if (gen && width && *gen <= kLaneBytes.size())
    out.ceilings.pcie_bytes = kLaneBytes[*gen - 1] * *width * kRateOverLimit;
}

void describe_temperatures(const Functions& nvml, const Gpu& gpu, Description& out) {
  struct Row {
    TemperatureThreshold threshold;
    const char* name;
  };
  for (const Row& row : {Row{TemperatureThreshold::shutdown, "temperature_shutdown_c"},
                         Row{TemperatureThreshold::slowdown, "temperature_slowdown_c"},
                         Row{TemperatureThreshold::memory_max, "temperature_memory_max_c"},
                         Row{TemperatureThreshold::gpu_max, "temperature_gpu_max_c"}}) {
    unsigned celsius = 0;
    if (call(nvml.device_temperature_threshold, gpu.handle, row.threshold, &celsius) == Return::success &&
        celsius > 0 && celsius < 200)
      out.device.attributes[row.name] = std::to_string(celsius);
  }
}

void describe_clocks(const Functions& nvml, const Gpu& gpu, Description& out) {
  unsigned mhz = 0;
  if (call(nvml.device_clock_max, gpu.handle, ClockType::sm, &mhz) == Return::success && mhz > 0 && mhz < 10'000)
    out.device.attributes["sm_clock_max_mhz"] = std::to_string(mhz);
  if (call(nvml.device_clock_max, gpu.handle, ClockType::memory, &mhz) == Return::success && mhz > 0 && mhz < 30'000)
    out.device.attributes["memory_clock_max_mhz"] = std::to_string(mhz);
}

record::Fact fact(std::string_view name, const std::string& subject, std::string value, std::string_view source) {
  record::Fact made;
  made.name = name;
  made.subject = subject;
  made.value = std::move(value);
  made.source = source;
  return made;
}
std::string on_off(unsigned mode) { return mode == kFeatureOn ? "on" : "off"; }

}  // namespace

Description describe_gpu(const Library& library, const Gpu& gpu) {
  const Functions& nvml = library.functions();
  Description out;
  out.device.kind = record::DeviceKind::gpu;
  out.device.uuid = gpu.uuid;
  out.device.name = gpu.name;
  out.device.index = gpu.index;
  auto& attributes = out.device.attributes;
  if (!gpu.pci_bus_id.empty()) attributes["pci_bus_id"] = gpu.pci_bus_id;
  attributes["architecture"] = name_of(gpu.architecture);
  if (gpu.compute_major > 0)
    attributes["compute_capability"] = fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor);
  if (gpu.mig) attributes["mig"] = "on";
  if (gpu.vgpu) attributes["vgpu"] = "guest";
  if (gpu.superchip) attributes["superchip"] = "yes";
  if (gpu.minor) attributes["minor"] = std::to_string(*gpu.minor);
  unsigned node = 0;
  if (call(nvml.device_numa_node, gpu.handle, &node) == Return::success && node < 4096)
    attributes["numa_node"] = std::to_string(node);
  describe_power(nvml, gpu, out);
  describe_memory(nvml, gpu, out);
  describe_links(nvml, gpu, out);
  describe_temperatures(nvml, gpu, out);
  describe_clocks(nvml, gpu, out);
  return out;
}

Description describe_slice(const Gpu& parent, const MigSlice& slice) {
  Description out;
  out.device.kind = record::DeviceKind::gpu;
  out.device.uuid = slice.uuid;
  out.device.name = slice.name;
  out.device.index = parent.index;
  out.limits.memory_total_bytes = slice.memory_bytes;
  auto& attributes = out.device.attributes;
  attributes["parent"] = parent.uuid;
  attributes["gpu_instance"] = std::to_string(slice.gpu_instance);
  attributes["compute_instance"] = std::to_string(slice.compute_instance);
  attributes["architecture"] = name_of(parent.architecture);
  if (slice.share) attributes["share"] = fmt::format("{:.6g}", *slice.share);
  if (slice.memory_bytes) attributes["memory_total_bytes"] = std::to_string(*slice.memory_bytes);
  return out;
}

std::vector<record::Fact> facts_of(const Library& library, const Gpu& gpu) {
  const Functions& nvml = library.functions();
  std::vector<record::Fact> facts;
  unsigned mode = 0;
  unsigned pending = 0;
  if (call(nvml.device_persistence, gpu.handle, &mode) == Return::success)
    facts.push_back(fact("gpu.persistence_mode", gpu.uuid, on_off(mode), "nvmlDeviceGetPersistenceMode"));
  if (call(nvml.device_mig_mode, gpu.handle, &mode, &pending) == Return::success)
    facts.push_back(fact("gpu.mig_mode", gpu.uuid, on_off(mode), "nvmlDeviceGetMigMode"));
  if (call(nvml.device_ecc_mode, gpu.handle, &mode, &pending) == Return::success)
    facts.push_back(fact("gpu.ecc_mode", gpu.uuid, on_off(mode), "nvmlDeviceGetEccMode"));
  if (const auto version = library.driver_version(); !version.empty())
    facts.push_back(fact("gpu.driver_version", gpu.uuid, version, "nvmlSystemGetDriverVersion"));
  return facts;
}

record::Fact share_fact(const MigSlice& slice) {
  auto made = fact("gpu.shared_share", slice.uuid, {}, slice.share_basis);
  if (slice.share)
    made.value = *slice.share;
  else
    made.value = std::string("not known: the driver tells neither SMs nor slices");
  return made;
}

}  // namespace gradwatt::nvml
