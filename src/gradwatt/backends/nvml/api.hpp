// The part of NVML's binary interface that gradwatt calls, declared here because the library is found at run time and
// its header is not there at build time. Layouts are those of 64-bit Linux; sizes are asserted.
//
// Names are ours; each comment says NVML's. Vendor units stay as they are: conversion happens right after each call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gradwatt::nvml {

/// nvmlReturn_t. Other values occur: newer drivers add some.
enum class Return : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  already_initialized = 5,
  not_found = 6,
  insufficient_size = 7,
  insufficient_power = 8,
  driver_not_loaded = 9,
  timeout = 10,
  irq_issue = 11,
  library_not_found = 12,
  function_not_found = 13,
  corrupted_inforom = 14,
  gpu_is_lost = 15,
  reset_required = 16,
  operating_system = 17,
  library_mismatch = 18,
  in_use = 19,
  memory = 20,
  no_data = 21,
  vgpu_ecc_not_supported = 22,
  insufficient_resources = 23,
  frequency_not_supported = 24,
  argument_version_mismatch = 25,
  deprecated = 26,
  not_ready = 27,
  gpu_not_found = 28,
  invalid_state = 29,
  reset_type_not_supported = 30,
  unknown = 999,
};

using DeviceHandle = struct OpaqueDevice*;     ///< nvmlDevice_t
using GpmSampleHandle = struct OpaqueSample*;  ///< nvmlGpmSample_t

enum class Architecture : unsigned {
  kepler = 2,
  maxwell = 3,
  pascal = 4,
  volta = 5,
  turing = 6,
  ampere = 7,
  ada = 8,
  hopper = 9,
  blackwell = 10,
  rubin = 13,
  unknown = 0xffffffffU,
};

enum class ClockType : unsigned { graphics = 0, sm = 1, memory = 2, video = 3 };
enum class TemperatureSensor : unsigned { gpu = 0 };
enum class TemperatureThreshold : unsigned { shutdown = 0, slowdown = 1, memory_max = 2, gpu_max = 3 };
enum class EccError : unsigned { corrected = 0, uncorrected = 1 };
enum class EccCounter : unsigned { since_driver_load = 0, lifetime = 1 };
enum class Virtualization : unsigned { none = 0, passthrough = 1, vgpu_guest = 2, vgpu_host = 3, vsga_host = 4 };
inline constexpr unsigned kFeatureOn = 1;
inline constexpr unsigned kPerformanceStateUnknown = 32;

enum class ValueType : unsigned { f64 = 0, u32 = 1, ulong = 2, u64 = 3, s64 = 4, s32 = 5, u16 = 6 };

union Value {  // nvmlValue_t
  double f64;
  std::uint32_t u32;
  unsigned long ulong;
  std::uint64_t u64;
  std::int64_t s64;
  std::int32_t s32;
  std::uint16_t u16;
};

struct FieldValue {  // nvmlFieldValue_t
  unsigned field;
  unsigned scope;
  std::int64_t timestamp_us;
  std::int64_t latency_us;
  ValueType type;
  Return code;
  Value value;
};

struct PciInfo {  // nvmlPciInfo_t of nvmlDeviceGetPciInfo_v2 and _v3
  char legacy_bus_id[16];
  unsigned domain, bus, device;
  unsigned device_id, subsystem_id;
  char bus_id[32];
};

struct Utilization {  // nvmlUtilization_t, percent
  unsigned gpu, memory;
};
struct MemoryV1 {  // nvmlMemory_t, bytes
  std::uint64_t total, free, used;
};
struct MemoryV2 {  // nvmlMemory_v2_t, bytes; `used` does not hold what the driver reserves
  unsigned version;
  std::uint64_t total, reserved, free, used;
};
struct ProcessV1 {  // nvmlProcessInfo_v1_t
  unsigned pid;
  std::uint64_t used_bytes;
};
struct ProcessV2 {  // nvmlProcessInfo_v2_t, the same in v3
  unsigned pid;
  std::uint64_t used_bytes;
  unsigned gpu_instance, compute_instance;
};
struct TemperatureV1 {  // nvmlTemperature_v1_t
  unsigned version;
  TemperatureSensor sensor;
  int celsius;
};
struct MarginTemperatureV1 {  // nvmlMarginTemperature_v1_t
  unsigned version;
  int celsius;
};
struct DeviceAttributes {  // nvmlDeviceAttributes_t, of MIG slices
  unsigned multiprocessors;
  unsigned copy_engines, decoders, encoders, jpeg_engines, flow_engines;
  unsigned gpu_instance_slices, compute_instance_slices;
  std::uint64_t memory_mib;
};

inline constexpr unsigned kGpmVersion = 1;
struct GpmSupport {  // nvmlGpmSupport_t
  unsigned version;
  unsigned supported;
};
struct GpmMetric {  // nvmlGpmMetric_t
  unsigned id;
  Return code;
  double value;
  const char *short_name, *long_name, *unit;
};
/// The library reads only `count` entries; the array is as long as in the newest known header.
inline constexpr std::size_t kGpmMetricsMax = 333;
struct GpmRequest {  // nvmlGpmMetricsGet_t
  unsigned version;
  unsigned count;
  GpmSampleHandle older, newer;
  GpmMetric metrics[kGpmMetricsMax];
};

/// Structures with a version word carry their own size in it.
constexpr unsigned version_word(std::size_t size, unsigned version) {
  return static_cast<unsigned>(size) | (version << 24U);
}

static_assert(sizeof(void*) == 8, "NVML's layouts below are those of 64-bit systems");
static_assert(sizeof(Value) == 8);
static_assert(sizeof(FieldValue) == 40 && offsetof(FieldValue, timestamp_us) == 8 && offsetof(FieldValue, type) == 24 &&
              offsetof(FieldValue, code) == 28 && offsetof(FieldValue, value) == 32);
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, domain) == 16 && offsetof(PciInfo, device_id) == 28 &&
              offsetof(PciInfo, bus_id) == 36);
static_assert(sizeof(Utilization) == 8);
static_assert(sizeof(MemoryV1) == 24);
static_assert(sizeof(MemoryV2) == 40 && offsetof(MemoryV2, used) == 32);
static_assert(version_word(sizeof(MemoryV2), 2) == 0x02000028);
static_assert(sizeof(ProcessV1) == 16);
static_assert(sizeof(ProcessV2) == 24 && offsetof(ProcessV2, gpu_instance) == 16);
static_assert(sizeof(TemperatureV1) == 12 && version_word(sizeof(TemperatureV1), 1) == 0x0100000c);
static_assert(sizeof(MarginTemperatureV1) == 8);
static_assert(sizeof(DeviceAttributes) == 40 && offsetof(DeviceAttributes, memory_mib) == 32);
static_assert(sizeof(GpmSupport) == 8);
static_assert(sizeof(GpmMetric) == 40 && offsetof(GpmMetric, value) == 8 && offsetof(GpmMetric, short_name) == 16);
static_assert(sizeof(GpmRequest) == 13344 && offsetof(GpmRequest, metrics) == 24);

/// Field ids of nvmlDeviceGetFieldValues.
namespace field {
inline constexpr unsigned kHeldPowerCap = 74, kHeldSyncBoost = 76;
inline constexpr unsigned kTemperatureMemory = 82;
inline constexpr unsigned kEnergyPlain = 83;
inline constexpr unsigned kNvlinkCount = 91;
inline constexpr unsigned kPcieReplays = 94;
inline constexpr unsigned kNvlinkDataTx = 138, kNvlinkDataRx = 139, kNvlinkRawTx = 140, kNvlinkRawRx = 141;
inline constexpr unsigned kC2cCount = 170;
inline constexpr unsigned kPowerAverage = 185, kPowerInstant = 186;
inline constexpr unsigned kPowerLimitEnforced = 190;
inline constexpr unsigned kEnergy = 191;
inline constexpr unsigned kPowerLimitRequested = 192;
inline constexpr unsigned kPcieTxBytes = 197, kPcieRxBytes = 198;
inline constexpr unsigned kHeldSwThermal = 269, kHeldHwThermal = 270, kHeldPowerBrake = 271;
}  // namespace field

/// Scope ids of the power and energy fields, and of the NVLink fields.
namespace scope {
inline constexpr unsigned kGpu = 0, kModule = 1, kMemory = 2;
inline constexpr unsigned kAllLinks = 0xffffffffU;
}  // namespace scope

}  // namespace gradwatt::nvml
