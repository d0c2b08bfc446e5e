#include "gradwatt/backends/nvml/inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "gradwatt/backends/nvml/return_code.hpp"

namespace gradwatt::nvml {
namespace {

using TextCall = Return (*)(DeviceHandle, char*, unsigned);
std::string text_of(TextCall function, DeviceHandle device) {
  std::array<char, 128> text{};
  if (call(function, device, text.data(), static_cast<unsigned>(text.size())) != Return::success) return {};
  text.back() = '\0';
  return text.data();
}

std::string bus_id_of(const Functions& nvml, DeviceHandle device) {
  PciInfo pci{};
  if (call(nvml.device_pci_info, device, &pci) != Return::success) return {};
  return {pci.bus_id, strnlen(pci.bus_id, sizeof(pci.bus_id))};
}

/// A chip-to-chip link joins GPU and CPU of a superchip; old drivers without that field are told by the name.
bool is_superchip(const Functions& nvml, const Gpu& gpu) {
  FieldValue links{};
  links.field = field::kC2cCount;
  if (call(nvml.device_fields, gpu.handle, 1, &links) == Return::success && links.code == Return::success &&
      links.type == ValueType::u32 && links.value.u32 > 0 && links.value.u32 != 0xffffffffU)
    return true;
  constexpr std::array kNames{"GH200", "GB200", "GB300"};
  return std::ranges::any_of(kNames, [&](const char* name) { return gpu.name.find(name) != std::string::npos; });
}

/// SMs of the whole GPU: NVML counts cores, whose number per SM belongs to the generation (GA100: 64).
std::optional<unsigned> multiprocessors_of(const Functions& nvml, const Gpu& gpu) {
  const unsigned cores_per_sm = gpu.compute_major == 8 && gpu.compute_minor == 0 ? 64 : 128;
  unsigned cores = 0;
  if (call(nvml.device_cores, gpu.handle, &cores) != Return::success || cores < cores_per_sm) return std::nullopt;
  return cores / cores_per_sm;
}

void set_share(MigSlice& slice, const DeviceAttributes& own, std::optional<unsigned> whole_sms, const Gpu& parent) {
  // A30 is cut into 4 slices, all others into 7.
  const unsigned slices = parent.name.find("A30") != std::string::npos ? 4 : 7;
  if (whole_sms && own.multiprocessors > 0 && own.multiprocessors <= *whole_sms) {
    slice.share = static_cast<double>(own.multiprocessors) / *whole_sms;
    slice.share_basis = fmt::format("{} of {} SMs", own.multiprocessors, *whole_sms);
  } else if (own.gpu_instance_slices > 0 && own.gpu_instance_slices <= slices) {
    slice.share = static_cast<double>(own.gpu_instance_slices) / slices;
    slice.share_basis = fmt::format("{} of {} slices", own.gpu_instance_slices, slices);
  }
}

void find_slices(const Functions& nvml, Gpu& gpu) {
  const auto whole_sms = multiprocessors_of(nvml, gpu);
  unsigned most = 0;
  if (call(nvml.device_mig_count_max, gpu.handle, &most) != Return::success) return;
  for (unsigned i = 0; i < std::min(most, 64U); ++i) {
    MigSlice slice;
    if (call(nvml.device_mig_by_index, gpu.handle, i, &slice.handle) != Return::success) continue;
    slice.uuid = text_of(nvml.device_uuid, slice.handle);
    if (slice.uuid.empty()) continue;
    slice.name = text_of(nvml.device_name, slice.handle);
    if (slice.name.empty()) slice.name = gpu.name + " MIG slice";
    static_cast<void>(call(nvml.device_gpu_instance, slice.handle, &slice.gpu_instance));
    static_cast<void>(call(nvml.device_compute_instance, slice.handle, &slice.compute_instance));
    DeviceAttributes own{};
    if (call(nvml.device_attributes, slice.handle, &own) == Return::success) {
      set_share(slice, own, whole_sms, gpu);
      if (own.memory_mib > 0 && own.memory_mib < (1U << 24U))
        slice.memory_bytes = static_cast<std::int64_t>(own.memory_mib) << 20;
    }
    gpu.slices.push_back(std::move(slice));
  }
}

/// Drivers of branch 4xx and older do not name the architecture; the compute capability tells it.
Architecture architecture_by_capability(int major, int minor) {
  switch (major) {
    case 3:
      return Architecture::kepler;
    case 5:
      return Architecture::maxwell;
    case 6:
      return Architecture::pascal;
    case 7:
      return minor < 5 ? Architecture::volta : Architecture::turing;
    case 8:
      return minor < 9 ? Architecture::ampere : Architecture::ada;
    case 9:
      return Architecture::hopper;
    case 10:
    case 12:
      return Architecture::blackwell;
    default:
      return Architecture::unknown;
  }
}

Gpu identify(const Functions& nvml, DeviceHandle handle, unsigned index) {
  Gpu gpu;
  gpu.handle = handle;
  gpu.index = static_cast<int>(index);
  gpu.uuid = text_of(nvml.device_uuid, handle);
  gpu.name = text_of(nvml.device_name, handle);
  if (gpu.name.empty()) gpu.name = "NVIDIA GPU";
  gpu.pci_bus_id = bus_id_of(nvml, handle);
  constexpr unsigned kMinors = 1U << 20U;
  if (unsigned minor = 0; call(nvml.device_minor, handle, &minor) == Return::success && minor < kMinors)
    gpu.minor = static_cast<int>(minor);
  // Without a UUID the place on the bus is the identity.
  if (gpu.uuid.empty()) gpu.uuid = gpu.pci_bus_id.empty() ? fmt::format("gpu-{}", index) : "pci-" + gpu.pci_bus_id;
  if (call(nvml.device_compute_capability, handle, &gpu.compute_major, &gpu.compute_minor) != Return::success)
    gpu.compute_major = gpu.compute_minor = 0;
  if (call(nvml.device_architecture, handle, &gpu.architecture) != Return::success)
    gpu.architecture = architecture_by_capability(gpu.compute_major, gpu.compute_minor);
  gpu.superchip = is_superchip(nvml, gpu);
  Virtualization virtualization{};
  gpu.vgpu = call(nvml.device_virtualization, handle, &virtualization) == Return::success &&
             virtualization == Virtualization::vgpu_guest;
  unsigned mode = 0;
  unsigned pending = 0;
  gpu.mig = call(nvml.device_mig_mode, handle, &mode, &pending) == Return::success && mode == kFeatureOn;
  if (gpu.mig) find_slices(nvml, gpu);
  return gpu;
}

}  // namespace

bool Inventory::mixed_models() const {
  return std::ranges::any_of(gpus, [&](const Gpu& gpu) { return gpu.name != gpus.front().name; });
}

Inventory take_inventory(const Library& library) {
  const Functions& nvml = library.functions();
  Inventory inventory;
  inventory.driver_version = library.driver_version();
  unsigned count = 0;
  const Return counted = call(nvml.device_count, &count);
  if (counted != Return::success) {
    inventory.refused.push_back(fmt::format("the GPUs cannot be counted: {}", describe(counted)));
    inventory.refused_why = counted;
    return inventory;
  }
  for (unsigned i = 0; i < std::min(count, 1024U); ++i) {
    DeviceHandle handle = nullptr;
    const Return code = call(nvml.device_by_index, i, &handle);
    if (code == Return::success) {
      inventory.gpus.push_back(identify(nvml, handle, i));
      continue;
    }
    inventory.refused.push_back(fmt::format("GPU {} cannot be opened: {}", i, describe(code)));
    if (!inventory.refused_why) inventory.refused_why = code;
  }
  return inventory;
}

}  // namespace gradwatt::nvml
