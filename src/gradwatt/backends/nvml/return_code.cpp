#include "gradwatt/backends/nvml/return_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradwatt::nvml {
namespace {

struct Row {
  Return code;
  ReturnClass kind;
  std::string_view text;
};
using enum ReturnClass;
constexpr auto kCodes = std::to_array<Row>({
    {Return::success, ok, "success"},
    {Return::uninitialized, global, "the driver library is not initialised any more"},
    // Drivers that do not know a field id or a scope answer with "invalid argument".
    {Return::invalid_argument, permanent, "not known to this driver"},
    {Return::not_supported, permanent, "not supported by this device"},
    {Return::no_permission, permission, "no permission"},
    {Return::already_initialized, ok, "already initialised"},
    {Return::not_found, permanent, "not found"},
    {Return::insufficient_size, transient, "buffer too small"},
    {Return::insufficient_power, transient, "external power cables are not properly attached"},
    {Return::driver_not_loaded, global, "the NVIDIA kernel driver is not loaded"},
    {Return::timeout, transient, "timeout"},
    {Return::irq_issue, transient, "interrupt problem of the driver"},
    {Return::library_not_found, global, "the driver library is not found"},
    {Return::function_not_found, permanent, "not offered by this driver library"},
    {Return::corrupted_inforom, transient, "corrupted inforom"},
    {Return::gpu_is_lost, lost, "the GPU is lost (fallen off the bus)"},
    {Return::reset_required, lost, "the GPU must be reset"},
    {Return::operating_system, permission, "blocked by the operating system or its device cgroup"},
    {Return::library_mismatch, global, "driver library and kernel driver have different versions"},
    {Return::in_use, transient, "in use"},
    {Return::memory, transient, "out of memory"},
    {Return::no_data, transient, "no data"},
    {Return::vgpu_ecc_not_supported, permanent, "not supported on a vGPU while memory error correction is on"},
    {Return::insufficient_resources, transient, "insufficient resources"},
    {Return::frequency_not_supported, permanent, "frequency not supported"},
    {Return::argument_version_mismatch, permanent, "this driver library has another version of the call"},
    {Return::deprecated, permanent, "no longer offered by this driver library"},
    {Return::not_ready, transient, "not ready"},
    {Return::gpu_not_found, lost, "the GPU is not found any more"},
    {Return::invalid_state, transient, "invalid state"},
    {Return::reset_type_not_supported, permanent, "reset type not supported"},
    {Return::unknown, transient, "unknown error of the driver"},
});

const Row* find(Return code) {
  const auto* it = std::ranges::find(kCodes, code, &Row::code);
  return it != kCodes.end() ? it : nullptr;
}

}  // namespace

ReturnClass class_of(Return code) {
  const Row* row = find(code);
  return row != nullptr ? row->kind : transient;
}

std::string describe(Return code) {
  const Row* row = find(code);
  return fmt::format("{} (NVML code {})", row != nullptr ? row->text : "error without a known meaning",
                     static_cast<int>(code));
}

std::string_view remedy_for(Return code) {
  switch (code) {
    case Return::driver_not_loaded:
      return "load the driver as root: modprobe nvidia";
    case Return::library_not_found:
      return "install the NVIDIA driver; start a container with GPU access (docker run --gpus all, apptainer --nv)";
    case Return::library_mismatch:
      return "reboot, or reload the nvidia kernel module: the driver was updated while the old one was loaded";
    case Return::no_permission:
    case Return::operating_system:
      return "ask the batch system or the container for the GPU, and check who may open it: ls -l /dev/nvidia*";
    case Return::gpu_is_lost:
    case Return::gpu_not_found:
    case Return::reset_required:
      return "look for Xid lines in the kernel log (dmesg), then reset the GPU or reboot the node";
    default:
      return {};
  }
}

}  // namespace gradwatt::nvml
