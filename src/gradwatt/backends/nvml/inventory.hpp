// The GPUs and MIG slices that this process may open, with what identifies them. Read once after the library started.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gradwatt/backends/nvml/library.hpp"

namespace gradwatt::nvml {

struct MigSlice {
  DeviceHandle handle = nullptr;
  std::string uuid;  ///< "MIG-…"
  std::string name;
  unsigned gpu_instance = 0, compute_instance = 0;
  /// Share of the parent by SM count, else by GPU-instance slices; nothing when the driver tells neither.
  std::optional<double> share;
  std::string share_basis;  ///< "42 of 108 SMs"
  std::optional<std::int64_t> memory_bytes;
};

struct Gpu {
  DeviceHandle handle = nullptr;
  int index = 0;             ///< NVML's, in order of PCI address
  std::optional<int> minor;  ///< N of /dev/nvidiaN
  std::string uuid;          ///< "GPU-…"
  std::string name;
  std::string pci_bus_id;
  Architecture architecture = Architecture::unknown;
  int compute_major = 0, compute_minor = 0;
  bool superchip = false;  ///< GPU and CPU on one module (GH200, GB200): readings may cover both
  bool vgpu = false;
  bool mig = false;
  std::vector<MigSlice> slices;
};

struct Inventory {
  std::string driver_version;
  std::vector<Gpu> gpus;              ///< those that can be opened, in NVML's order
  std::vector<std::string> refused;   ///< one line for each GPU that cannot be opened
  std::optional<Return> refused_why;  ///< code of the first of them

  /// CUDA numbers the fastest GPU first unless CUDA_DEVICE_ORDER says otherwise; NVML goes by PCI address. With one
  /// model on the node both are the same.
  [[nodiscard]] bool mixed_models() const;
};

[[nodiscard]] Inventory take_inventory(const Library& library);

}  // namespace gradwatt::nvml
