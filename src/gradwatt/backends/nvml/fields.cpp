#include "gradwatt/backends/nvml/fields.hpp"

#include <array>
#include <cmath>

#include "gradwatt/backends/nvml/metrics.hpp"

namespace gradwatt::nvml {
namespace {

constexpr std::string_view kRawNote = "bytes on the wire, protocol included";
constexpr std::string_view kPlainNote = "counter without a scope; of a superchip it may hold CPU and memory too";

// Field and scope ids: reference of NVML 13; see api.hpp.
constexpr auto kFields = std::to_array<FieldRow>({
    {field::kPowerAverage, scope::kGpu, metric::kPowerAvg, 1, "gpu", "nvml field 185"},
    {field::kPowerInstant, scope::kGpu, metric::kPowerInst, 1, "gpu", "nvml field 186"},
    {field::kPowerAverage, scope::kMemory, metric::kPowerMemoryAvg, 1, "memory", "nvml field 185 scope 2"},
    {field::kPowerInstant, scope::kMemory, metric::kPowerMemoryInst, 1, "memory", "nvml field 186 scope 2"},
    {field::kPowerAverage, scope::kModule, metric::kPowerModuleAvg, 1, "module", "nvml field 185 scope 1"},
    {field::kPowerInstant, scope::kModule, metric::kPowerModuleInst, 1, "module", "nvml field 186 scope 1"},
    {field::kEnergy, scope::kGpu, metric::kEnergy, 1000, "gpu", "nvml field 191"},
    {field::kEnergyPlain, scope::kGpu, metric::kEnergy, 1000, "gpu", "nvml field 83", kPlainNote},
    {field::kEnergy, scope::kModule, metric::kEnergyModule, 1000, "module", "nvml field 191 scope 1"},
    {field::kTemperatureMemory, 0, metric::kTemperatureMemory, 1, "memory", "nvml field 82"},
    {field::kPowerLimitEnforced, 0, metric::kPowerLimitEnforced, 1, "gpu", "nvml field 190"},
    {field::kPowerLimitRequested, 0, metric::kPowerLimitRequested, 1, "gpu", "nvml field 192"},
    {field::kHeldPowerCap, 0, metric::kHeldPowerCap, 1, "gpu", "nvml field 74"},
    {field::kHeldSyncBoost, 0, metric::kHeldSyncBoost, 1, "gpu", "nvml field 76"},
    {field::kHeldSwThermal, 0, metric::kHeldSwThermal, 1, "gpu", "nvml field 269"},
    {field::kHeldHwThermal, 0, metric::kHeldHwThermal, 1, "gpu", "nvml field 270"},
    {field::kHeldPowerBrake, 0, metric::kHeldPowerBrake, 1, "gpu", "nvml field 271"},
    {field::kPcieTxBytes, 0, metric::kPcieTx, 1, "gpu", "nvml field 197"},
    {field::kPcieRxBytes, 0, metric::kPcieRx, 1, "gpu", "nvml field 198"},
    {field::kPcieReplays, 0, metric::kPcieReplays, 1, "gpu", "nvml field 94"},
    {field::kNvlinkDataTx, scope::kAllLinks, metric::kNvlinkTx, 1024, "gpu", "nvml field 138"},
    {field::kNvlinkRawTx, scope::kAllLinks, metric::kNvlinkTx, 1024, "gpu", "nvml field 140", kRawNote},
    {field::kNvlinkDataRx, scope::kAllLinks, metric::kNvlinkRx, 1024, "gpu", "nvml field 139"},
    {field::kNvlinkRawRx, scope::kAllLinks, metric::kNvlinkRx, 1024, "gpu", "nvml field 141", kRawNote},
});

/// Values from here on mean "blank", "not found", "not supported" in monitoring libraries (last hex digit: which).
constexpr std::uint64_t kBlank64 = 0x7ffffffffffffff0U;
constexpr std::uint32_t kBlank32 = 0x7ffffff0U;

constexpr bool is_sentinel(std::uint32_t v) { return v == 0xffffffffU || (v >= kBlank32 && v <= 0x7fffffffU); }

std::optional<std::int64_t> scaled(std::uint64_t raw, std::int64_t factor) {
  std::int64_t result = 0;
  if (raw >= kBlank64 || __builtin_mul_overflow(static_cast<std::int64_t>(raw), factor, &result)) return std::nullopt;
  return result;
}
std::optional<std::int64_t> scaled_signed(std::int64_t raw, std::int64_t factor) {
  return raw < 0 ? std::nullopt : scaled(static_cast<std::uint64_t>(raw), factor);
}

}  // namespace

std::span<const FieldRow> field_table() { return kFields; }

std::optional<std::int64_t> decode(ValueType type, const Value& value, std::int64_t factor) {
  switch (type) {
    case ValueType::f64: {
      constexpr double kLargest = 9e18;
      const double product = value.f64 * static_cast<double>(factor);
      if (!std::isfinite(product) || product < 0 || product > kLargest) return std::nullopt;
      return std::llround(product);
    }
    case ValueType::u32:
      return is_sentinel(value.u32) ? std::nullopt : scaled(value.u32, factor);
    case ValueType::ulong:
      return scaled(value.ulong, factor);
    case ValueType::u64:
      return scaled(value.u64, factor);
    case ValueType::s64:
      return scaled_signed(value.s64, factor);
    case ValueType::s32:
      return value.s32 < 0 || is_sentinel(value.u32) ? std::nullopt : scaled_signed(value.s32, factor);
    case ValueType::u16:
      return value.u16 == 0xffffU ? std::nullopt : scaled(value.u16, factor);
  }
  return std::nullopt;
}

std::optional<double> range_of(ValueType type) {
  switch (type) {
    case ValueType::u32:
      return 4294967296.0;
    case ValueType::u16:
      return 65536.0;
    default:
      return std::nullopt;
  }
}

}  // namespace gradwatt::nvml
