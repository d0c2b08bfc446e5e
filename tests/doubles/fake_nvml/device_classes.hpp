// The kinds of GPU that the fake driver can play, one row each: what they are and which readings they have.
#pragma once

#include <array>
#include <string_view>

#include "gradwatt/backends/nvml/api.hpp"

namespace gradwatt::doubles {

struct DeviceClass {
  std::string_view key, product;
  nvml::Architecture architecture;
  int compute_major, compute_minor;
  unsigned cores, sm_clock_max_mhz, memory_clock_mhz;
  unsigned limit_min_w, limit_default_w, limit_max_w;  ///< 0: the driver tells no limit
  unsigned memory_gib;
  // power and energy
  bool classic_power, classic_is_average, field_average, field_instant, memory_power, module_power;
  bool energy_counter, energy_field;
  // the rest
  bool utilization, gpm, ecc, fan, margin, memory_temperature, pcie_bytes, mig_capable, vgpu;
  unsigned nvlinks, pcie_gen, pcie_width;
};

using enum nvml::Architecture;
inline constexpr auto kDeviceClasses = std::to_array<DeviceClass>({
    {.key = "a100", .product = "NVIDIA A100-SXM4-80GB", .architecture = ampere, .compute_major = 8, .compute_minor = 0,
     .cores = 6912, .sm_clock_max_mhz = 1410, .memory_clock_mhz = 1593, .limit_min_w = 100, .limit_default_w = 400,
     .limit_max_w = 400, .memory_gib = 80, .classic_power = true, .field_instant = true, .energy_counter = true,
     .energy_field = true, .utilization = true, .ecc = true, .memory_temperature = true, .pcie_bytes = true,
     .mig_capable = true, .nvlinks = 12, .pcie_gen = 4, .pcie_width = 16},
    {.key = "h100", .product = "NVIDIA H100 80GB HBM3", .architecture = hopper, .compute_major = 9, .compute_minor = 0,
     .cores = 16896, .sm_clock_max_mhz = 1980, .memory_clock_mhz = 2619, .limit_min_w = 200, .limit_default_w = 700,
     .limit_max_w = 700, .memory_gib = 80, .classic_power = true, .classic_is_average = true, .field_average = true,
     .field_instant = true, .memory_power = true, .energy_counter = true, .energy_field = true, .utilization = true,
     .gpm = true, .ecc = true, .margin = true, .memory_temperature = true, .pcie_bytes = true, .mig_capable = true,
     .nvlinks = 18, .pcie_gen = 5, .pcie_width = 16},
    {.key = "gh200", .product = "NVIDIA GH200 480GB", .architecture = hopper, .compute_major = 9, .compute_minor = 0,
     .cores = 16896, .sm_clock_max_mhz = 1980, .memory_clock_mhz = 2619, .limit_min_w = 100, .limit_default_w = 900,
     .limit_max_w = 900, .memory_gib = 96, .classic_power = true, .classic_is_average = true, .field_average = true,
     .field_instant = true, .memory_power = true, .module_power = true, .energy_counter = true, .energy_field = true,
     .utilization = true, .gpm = true, .ecc = true, .margin = true, .memory_temperature = true, .pcie_bytes = true,
     .mig_capable = true, .nvlinks = 18, .pcie_gen = 5, .pcie_width = 16},
    {.key = "v100", .product = "Tesla V100-SXM2-32GB", .architecture = volta, .compute_major = 7, .compute_minor = 0,
     .cores = 5120, .sm_clock_max_mhz = 1530, .memory_clock_mhz = 877, .limit_min_w = 150, .limit_default_w = 300,
     .limit_max_w = 300, .memory_gib = 32, .classic_power = true, .field_instant = true, .energy_counter = true,
     .energy_field = true, .utilization = true, .ecc = true, .memory_temperature = true, .pcie_bytes = true,
     .nvlinks = 6, .pcie_gen = 3, .pcie_width = 16},
    {.key = "pascal", .product = "Tesla P100-PCIE-16GB", .architecture = pascal, .compute_major = 6, .compute_minor = 0,
     .cores = 3584, .sm_clock_max_mhz = 1328, .memory_clock_mhz = 715, .limit_min_w = 125, .limit_default_w = 250,
     .limit_max_w = 250, .memory_gib = 16, .classic_power = true, .utilization = true, .ecc = true, .pcie_gen = 3,
     .pcie_width = 16},
    {.key = "consumer", .product = "NVIDIA GeForce RTX 4090", .architecture = ada, .compute_major = 8,
     .compute_minor = 9, .cores = 16384, .sm_clock_max_mhz = 3105, .memory_clock_mhz = 10501, .limit_min_w = 150,
     .limit_default_w = 450, .limit_max_w = 600, .memory_gib = 24, .classic_power = true, .classic_is_average = true,
     .field_average = true, .field_instant = true, .energy_counter = true, .energy_field = true, .utilization = true,
     .fan = true, .pcie_gen = 4, .pcie_width = 16},
    {.key = "vgpu", .product = "GRID A100-40C", .architecture = ampere, .compute_major = 8, .compute_minor = 0,
     .cores = 6912, .sm_clock_max_mhz = 1410, .memory_clock_mhz = 1215, .memory_gib = 40, .utilization = true,
     .vgpu = true, .pcie_gen = 4, .pcie_width = 16},
    // A display card without any power sensor.
    {.key = "basic", .product = "NVIDIA GeForce GT 1030", .architecture = pascal, .compute_major = 6,
     .compute_minor = 1, .cores = 384, .sm_clock_max_mhz = 1468, .memory_clock_mhz = 3004, .memory_gib = 2,
     .utilization = true, .fan = true, .pcie_gen = 3, .pcie_width = 4},
});

}  // namespace gradwatt::doubles
