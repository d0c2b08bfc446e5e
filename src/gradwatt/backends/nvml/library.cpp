#include "gradwatt/backends/nvml/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <vector>

#include "gradwatt/backends/nvml/return_code.hpp"

namespace gradwatt::nvml {
namespace {

template <class Function>
void resolve(void* library, Function*& target, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    target = reinterpret_cast<Function*>(dlsym(library, name));
    if (target != nullptr) return;
  }
}

void resolve_identity(void* lib, Functions& f) {
  resolve(lib, f.init, {"nvmlInit_v2", "nvmlInit"});
  resolve(lib, f.shutdown, {"nvmlShutdown"});
  resolve(lib, f.driver_version, {"nvmlSystemGetDriverVersion"});
  resolve(lib, f.cuda_driver_version, {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"});
  resolve(lib, f.device_count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
  resolve(lib, f.device_by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
  resolve(lib, f.device_name, {"nvmlDeviceGetName"});
  resolve(lib, f.device_uuid, {"nvmlDeviceGetUUID"});
  resolve(lib, f.device_minor, {"nvmlDeviceGetMinorNumber"});
  // The first version without a suffix has a shorter structure; it is left out.
  resolve(lib, f.device_pci_info, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2"});
  resolve(lib, f.device_architecture, {"nvmlDeviceGetArchitecture"});
  resolve(lib, f.device_compute_capability, {"nvmlDeviceGetCudaComputeCapability"});
  resolve(lib, f.device_cores, {"nvmlDeviceGetNumGpuCores"});
  resolve(lib, f.device_numa_node, {"nvmlDeviceGetNumaNodeId"});
  resolve(lib, f.device_virtualization, {"nvmlDeviceGetVirtualizationMode"});
  resolve(lib, f.device_persistence, {"nvmlDeviceGetPersistenceMode"});
  resolve(lib, f.device_ecc_mode, {"nvmlDeviceGetEccMode"});
}

void resolve_power(void* lib, Functions& f) {
  resolve(lib, f.device_power_usage, {"nvmlDeviceGetPowerUsage"});
  resolve(lib, f.device_total_energy, {"nvmlDeviceGetTotalEnergyConsumption"});
  resolve(lib, f.device_limit_enforced, {"nvmlDeviceGetEnforcedPowerLimit"});
  resolve(lib, f.device_limit_requested, {"nvmlDeviceGetPowerManagementLimit"});
  resolve(lib, f.device_limit_default, {"nvmlDeviceGetPowerManagementDefaultLimit"});
  resolve(lib, f.device_limit_range, {"nvmlDeviceGetPowerManagementLimitConstraints"});
  resolve(lib, f.device_fields, {"nvmlDeviceGetFieldValues"});
}

void resolve_activity(void* lib, Functions& f) {
  resolve(lib, f.device_utilization, {"nvmlDeviceGetUtilizationRates"});
  resolve(lib, f.device_memory_v2, {"nvmlDeviceGetMemoryInfo_v2"});
  resolve(lib, f.device_memory_v1, {"nvmlDeviceGetMemoryInfo"});
  resolve(lib, f.device_clock, {"nvmlDeviceGetClockInfo"});
  resolve(lib, f.device_clock_max, {"nvmlDeviceGetMaxClockInfo"});
  resolve(lib, f.device_event_reasons,
          {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  resolve(lib, f.device_temperature_v, {"nvmlDeviceGetTemperatureV"});
  resolve(lib, f.device_temperature, {"nvmlDeviceGetTemperature"});
  resolve(lib, f.device_temperature_threshold, {"nvmlDeviceGetTemperatureThreshold"});
  resolve(lib, f.device_margin, {"nvmlDeviceGetMarginTemperature"});
  resolve(lib, f.device_performance_state, {"nvmlDeviceGetPerformanceState"});
  resolve(lib, f.device_fan, {"nvmlDeviceGetFanSpeed"});
}

void resolve_links_and_health(void* lib, Functions& f) {
  resolve(lib, f.device_pcie_gen, {"nvmlDeviceGetCurrPcieLinkGeneration"});
  resolve(lib, f.device_pcie_gen_max, {"nvmlDeviceGetMaxPcieLinkGeneration"});
  resolve(lib, f.device_pcie_width, {"nvmlDeviceGetCurrPcieLinkWidth"});
  resolve(lib, f.device_pcie_width_max, {"nvmlDeviceGetMaxPcieLinkWidth"});
  resolve(lib, f.device_pcie_replays, {"nvmlDeviceGetPcieReplayCounter"});
  resolve(lib, f.device_nvlink_state, {"nvmlDeviceGetNvLinkState"});
  resolve(lib, f.device_ecc_errors, {"nvmlDeviceGetTotalEccErrors"});
  resolve(lib, f.device_processes_v2,
          {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  resolve(lib, f.device_processes_v1, {"nvmlDeviceGetComputeRunningProcesses"});
}

void resolve_mig_and_gpm(void* lib, Functions& f) {
  resolve(lib, f.device_mig_mode, {"nvmlDeviceGetMigMode"});
  resolve(lib, f.device_mig_count_max, {"nvmlDeviceGetMaxMigDeviceCount"});
  resolve(lib, f.device_mig_by_index, {"nvmlDeviceGetMigDeviceHandleByIndex"});
  resolve(lib, f.device_gpu_instance, {"nvmlDeviceGetGpuInstanceId"});
  resolve(lib, f.device_compute_instance, {"nvmlDeviceGetComputeInstanceId"});
  resolve(lib, f.device_attributes, {"nvmlDeviceGetAttributes_v2"});
  resolve(lib, f.gpm_support, {"nvmlGpmQueryDeviceSupport"});
  resolve(lib, f.gpm_sample_alloc, {"nvmlGpmSampleAlloc"});
  resolve(lib, f.gpm_sample_free, {"nvmlGpmSampleFree"});
  resolve(lib, f.gpm_sample, {"nvmlGpmSampleGet"});
  resolve(lib, f.gpm_sample_mig, {"nvmlGpmMigSampleGet"});
  resolve(lib, f.gpm_metrics, {"nvmlGpmMetricsGet"});
}

}  // namespace

Library::Library(void* handle) : handle_(handle) {
  resolve_identity(handle_, functions_);
  resolve_power(handle_, functions_);
  resolve_activity(handle_, functions_);
  resolve_links_and_health(handle_, functions_);
  resolve_mig_and_gpm(handle_, functions_);
}

Library::~Library() {
  if (initialized_) static_cast<void>(call(functions_.shutdown));
  dlclose(handle_);
}

tl::expected<std::shared_ptr<const Library>, Library::Failure> Library::open(const std::string& path) {
  const auto candidates =
      path.empty() ? std::vector<std::string>{"libnvidia-ml.so.1", "libnvidia-ml.so"} : std::vector<std::string>{path};
  std::string first_refusal;
  for (const auto& candidate : candidates) {
    void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* why = dlerror();
      if (first_refusal.empty()) first_refusal = why != nullptr ? why : "no reason given";
      continue;
    }
    const std::shared_ptr<Library> library(new Library(handle));
    if (library->functions_.init == nullptr)
      return tl::unexpected(Failure{Return::function_not_found,
                                    fmt::format("{} is not a driver library: it has no nvmlInit", candidate)});
    const Return code = library->functions_.init();
    if (class_of(code) != ReturnClass::ok)
      return tl::unexpected(Failure{code, fmt::format("NVML does not start: {}", describe(code))});
    library->initialized_ = true;
    return library;
  }
  return tl::unexpected(
      Failure{Return::library_not_found, fmt::format("no NVIDIA driver library can be loaded: {}", first_refusal)});
}

std::string Library::driver_version() const {
  std::array<char, 96> text{};
  if (call(functions_.driver_version, text.data(), static_cast<unsigned>(text.size())) != Return::success) return {};
  text.back() = '\0';
  return text.data();
}

}  // namespace gradwatt::nvml
