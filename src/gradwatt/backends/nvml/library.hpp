// The NVIDIA driver library, found at run time. Every symbol is optional: what an old or a new driver lacks is a null
// pointer here and answers "function not found" through call().
//
//   auto library = Library::open("");             // the machine's own; never linked, nothing happens before this
//   call(library->functions().device_power_usage, handle, &milliwatts);
#pragma once

#include <memory>
#include <string>

#include "gradwatt/backends/nvml/api.hpp"
#include "gradwatt/core/result.hpp"

namespace gradwatt::nvml {

/// Symbols by newest name first; where an older one has another layout it has its own pointer.
struct Functions {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*driver_version)(char*, unsigned) = nullptr;
  Return (*cuda_driver_version)(int*) = nullptr;
  Return (*device_count)(unsigned*) = nullptr;
  Return (*device_by_index)(unsigned, DeviceHandle*) = nullptr;
  // identity
  Return (*device_name)(DeviceHandle, char*, unsigned) = nullptr;
  Return (*device_uuid)(DeviceHandle, char*, unsigned) = nullptr;
  Return (*device_minor)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_pci_info)(DeviceHandle, PciInfo*) = nullptr;
  Return (*device_architecture)(DeviceHandle, Architecture*) = nullptr;
  Return (*device_compute_capability)(DeviceHandle, int*, int*) = nullptr;
  Return (*device_cores)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_numa_node)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_virtualization)(DeviceHandle, Virtualization*) = nullptr;
  Return (*device_persistence)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_ecc_mode)(DeviceHandle, unsigned*, unsigned*) = nullptr;
  // power, energy
  Return (*device_power_usage)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_total_energy)(DeviceHandle, std::uint64_t*) = nullptr;
  Return (*device_limit_enforced)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_limit_requested)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_limit_default)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_limit_range)(DeviceHandle, unsigned*, unsigned*) = nullptr;
  Return (*device_fields)(DeviceHandle, int, FieldValue*) = nullptr;
  // activity, clocks, temperatures
  Return (*device_utilization)(DeviceHandle, Utilization*) = nullptr;
  Return (*device_memory_v2)(DeviceHandle, MemoryV2*) = nullptr;
  Return (*device_memory_v1)(DeviceHandle, MemoryV1*) = nullptr;
  Return (*device_clock)(DeviceHandle, ClockType, unsigned*) = nullptr;
  Return (*device_clock_max)(DeviceHandle, ClockType, unsigned*) = nullptr;
  Return (*device_event_reasons)(DeviceHandle, std::uint64_t*) = nullptr;
  Return (*device_temperature_v)(DeviceHandle, TemperatureV1*) = nullptr;
  Return (*device_temperature)(DeviceHandle, TemperatureSensor, unsigned*) = nullptr;
  Return (*device_temperature_threshold)(DeviceHandle, TemperatureThreshold, unsigned*) = nullptr;
  Return (*device_margin)(DeviceHandle, MarginTemperatureV1*) = nullptr;
  Return (*device_performance_state)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_fan)(DeviceHandle, unsigned*) = nullptr;
  // links, health, processes
  Return (*device_pcie_gen)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_pcie_gen_max)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_pcie_width)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_pcie_width_max)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_pcie_replays)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_nvlink_state)(DeviceHandle, unsigned, unsigned*) = nullptr;
  Return (*device_ecc_errors)(DeviceHandle, EccError, EccCounter, std::uint64_t*) = nullptr;
  Return (*device_processes_v2)(DeviceHandle, unsigned*, ProcessV2*) = nullptr;
  Return (*device_processes_v1)(DeviceHandle, unsigned*, ProcessV1*) = nullptr;
  // MIG
  Return (*device_mig_mode)(DeviceHandle, unsigned*, unsigned*) = nullptr;
  Return (*device_mig_count_max)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_mig_by_index)(DeviceHandle, unsigned, DeviceHandle*) = nullptr;
  Return (*device_gpu_instance)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_compute_instance)(DeviceHandle, unsigned*) = nullptr;
  Return (*device_attributes)(DeviceHandle, DeviceAttributes*) = nullptr;
  // GPM
  Return (*gpm_support)(DeviceHandle, GpmSupport*) = nullptr;
  Return (*gpm_sample_alloc)(GpmSampleHandle*) = nullptr;
  Return (*gpm_sample_free)(GpmSampleHandle) = nullptr;
  Return (*gpm_sample)(DeviceHandle, GpmSampleHandle) = nullptr;
  Return (*gpm_sample_mig)(DeviceHandle, unsigned, GpmSampleHandle) = nullptr;
  Return (*gpm_metrics)(GpmRequest*) = nullptr;
};

/// Calls an optional symbol.
template <class... Parameters, class... Arguments>
[[nodiscard]] Return call(Return (*function)(Parameters...), Arguments... arguments) {
  return function != nullptr ? function(arguments...) : Return::function_not_found;
}

/// An opened and initialised library; shut down and closed on destruction. Calls may come from any thread.
class Library {
 public:
  /// What open() found when it did not succeed: the code that NVML gave, or library_not_found.
  struct Failure {
    Return code;
    std::string message;
  };
  /// `path` names the library file; empty: the machine's own. May take seconds on a node without persistence mode.
  [[nodiscard]] static tl::expected<std::shared_ptr<const Library>, Failure> open(const std::string& path);

  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] const Functions& functions() const { return functions_; }
  /// "550.54.15"; empty when the library does not say.
  [[nodiscard]] std::string driver_version() const;

 private:
  explicit Library(void* handle);
  void* handle_;
  Functions functions_;
  bool initialized_ = false;
};

}  // namespace gradwatt::nvml
