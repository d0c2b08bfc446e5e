// What a run measures: devices, and how sure a figure about them is.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gradwatt::record {

/// One wide table of samples a kind.
enum class DeviceKind : std::uint8_t {
  gpu,   ///< a GPU, or a MIG slice of one (attribute "parent")
  cpu,   ///< one CPU package, or the package's CPU side of a superchip
  dram,  ///< the memory of one package, or of the host
  node,  ///< the host as a whole: utilisation, memory, node power meter
  nic,   ///< a network or InfiniBand port
  disk,  ///< a block device
  job,   ///< the process tree that is measured
};
inline constexpr std::array kDeviceKinds{DeviceKind::gpu,  DeviceKind::cpu, DeviceKind::dram, DeviceKind::node,
                                         DeviceKind::nic,  DeviceKind::disk, DeviceKind::job};
[[nodiscard]] std::string_view name_of(DeviceKind kind);
[[nodiscard]] std::optional<DeviceKind> device_kind(std::string_view name);

/// Position in Run::devices; the `device` column of a record.
enum class DeviceIndex : std::uint32_t {};
[[nodiscard]] constexpr std::uint32_t number(DeviceIndex i) { return static_cast<std::uint32_t>(i); }

struct Device {
  DeviceKind kind{};
  std::string uuid;  ///< identity across runs: GPU UUID, "cpu-package-0", interface name
  std::string name;  ///< for people: "NVIDIA H100 80GB HBM3"
  int index = -1;    ///< vendor index on this host, −1 where there is none
  std::string host;
  /// Static facts as text, names ending in their unit: "power_limit_enforced_w" -> "700", "pcie_width_max" -> "16".
  std::map<std::string, std::string> attributes;
};

/// How a figure came to be; ordered from strongest to weakest, a total takes the weakest of its parts.
enum class How : std::uint8_t {
  counter,     ///< difference of a hardware counter
  integrated,  ///< sum over measured power
  modelled,    ///< computed from other measured figures by a named model
  estimated,   ///< gap filled, prediction or default
};
/// Where it was taken.
enum class Where : std::uint8_t { live, imported, replayed, simulated };

[[nodiscard]] std::string_view name_of(How how);
[[nodiscard]] std::string_view name_of(Where where);
[[nodiscard]] std::optional<How> how_from(std::string_view name);
[[nodiscard]] std::optional<Where> where_from(std::string_view name);

}  // namespace gradwatt::record
