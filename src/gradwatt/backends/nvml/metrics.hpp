// Short names for the rows of the metric table that NVML fills.
#pragma once

#include "gradwatt/record/metric.hpp"

namespace gradwatt::nvml::metric {

consteval record::MetricId gpu(std::string_view name) { return record::metric(record::DeviceKind::gpu, name); }

inline constexpr auto kEnergy = gpu("energy"), kEnergyModule = gpu("energy_module"), kEnergySlice = gpu("energy_slice");
inline constexpr auto kPowerAvg = gpu("power_avg"), kPowerInst = gpu("power_inst");
inline constexpr auto kPowerMemoryAvg = gpu("power_memory_avg"), kPowerMemoryInst = gpu("power_memory_inst");
inline constexpr auto kPowerModuleAvg = gpu("power_module_avg"), kPowerModuleInst = gpu("power_module_inst");
inline constexpr auto kPowerLimitEnforced = gpu("power_limit_enforced");
inline constexpr auto kPowerLimitRequested = gpu("power_limit_requested");
inline constexpr auto kUtilization = gpu("utilization"), kMemoryUtilization = gpu("memory_utilization");
inline constexpr auto kSmActive = gpu("sm_active"), kSmOccupancy = gpu("sm_occupancy");
inline constexpr auto kTensorActive = gpu("tensor_active"), kDramActive = gpu("dram_active");
inline constexpr auto kFp64Active = gpu("fp64_active"), kFp32Active = gpu("fp32_active");
inline constexpr auto kFp16Active = gpu("fp16_active"), kIntegerActive = gpu("integer_active");
inline constexpr auto kGraphicsActive = gpu("graphics_active");
inline constexpr auto kSmClock = gpu("sm_clock"), kMemoryClock = gpu("memory_clock");
inline constexpr auto kTemperature = gpu("temperature"), kTemperatureMemory = gpu("temperature_memory");
inline constexpr auto kTemperatureMargin = gpu("temperature_margin");
inline constexpr auto kMemoryUsed = gpu("memory_used");
inline constexpr auto kClockEventReasons = gpu("clock_event_reasons");
inline constexpr auto kPerformanceState = gpu("performance_state"), kFanSpeed = gpu("fan_speed");
inline constexpr auto kPcieGen = gpu("pcie_gen"), kPcieWidth = gpu("pcie_width");
inline constexpr auto kPcieTx = gpu("pcie_tx"), kPcieRx = gpu("pcie_rx"), kPcieReplays = gpu("pcie_replays");
inline constexpr auto kNvlinkTx = gpu("nvlink_tx"), kNvlinkRx = gpu("nvlink_rx");
inline constexpr auto kNvlinkLinksUp = gpu("nvlink_links_up");
inline constexpr auto kEccCorrected = gpu("ecc_corrected"), kEccUncorrected = gpu("ecc_uncorrected");
inline constexpr auto kHeldPowerCap = gpu("held_power_cap"), kHeldSyncBoost = gpu("held_sync_boost");
inline constexpr auto kHeldSwThermal = gpu("held_sw_thermal"), kHeldHwThermal = gpu("held_hw_thermal");
inline constexpr auto kHeldPowerBrake = gpu("held_power_brake");
inline constexpr auto kProcesses = gpu("processes");

}  // namespace gradwatt::nvml::metric
