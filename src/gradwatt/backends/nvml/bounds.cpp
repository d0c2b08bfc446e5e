#include "gradwatt/backends/nvml/bounds.hpp"

#include <fmt/format.h>

#include <limits>

#include "gradwatt/backends/nvml/metrics.hpp"

namespace gradwatt::nvml {
namespace {

constexpr std::int64_t kAnything = std::numeric_limits<std::int64_t>::max();
/// Short excursions over the limit are real (the 25 ms reading sees them); twice the limit is not.
constexpr std::int64_t kPowerOverLimit = 2;
/// A module holds a CPU and its memory besides the GPU.
constexpr std::int64_t kModuleOverLimit = 4;
/// Where the device tells no limit: above every part known, below a 32-bit sentinel (4 295 kW).
constexpr std::int64_t kPowerWithoutLimitMw = 10'000'000;
constexpr std::int64_t kLimitMw = 100'000'000;
constexpr std::int64_t kMemoryBytes = std::int64_t{1} << 44;

struct Row {
  record::MetricId metric;
  std::int64_t low, high;
};
// Power of exactly 0 W, or an energy counter of exactly 0, is no reading of a GPU that answers: drivers give it where
// the sensor is missing. (A real counter shows 0 for the first tenth of a second after the driver was loaded.)
constexpr auto kFixed = std::to_array<Row>({
    {metric::kEnergy, 1, kAnything},
    {metric::kEnergyModule, 1, kAnything},
    {metric::kUtilization, 0, 1000},
    {metric::kMemoryUtilization, 0, 1000},
    {metric::kSmActive, 0, 1000},
    {metric::kTensorActive, 0, 1000},
    {metric::kDramActive, 0, 1000},
    {metric::kSmOccupancy, 0, 1000},
    {metric::kFp64Active, 0, 1000},
    {metric::kFp32Active, 0, 1000},
    {metric::kFp16Active, 0, 1000},
    {metric::kIntegerActive, 0, 1000},
    {metric::kGraphicsActive, 0, 1000},
    {metric::kSmClock, 0, 10'000},
    {metric::kMemoryClock, 0, 30'000},
    {metric::kTemperature, -40, 200},
    {metric::kTemperatureMemory, 1, 200},  // 0 °C: the driver's answer where there is no such sensor
    {metric::kTemperatureMargin, -100, 200},
    {metric::kPowerLimitEnforced, 1, kLimitMw},
    {metric::kPowerLimitRequested, 1, kLimitMw},
    {metric::kClockEventReasons, 0, 0xffff'ffff'ffff},
    {metric::kPerformanceState, 0, 15},  // 32 is "unknown"
    {metric::kFanSpeed, 0, 2000},        // the driver may say more than 100 % of the rated speed
    {metric::kPcieGen, 1, 8},
    {metric::kPcieWidth, 1, 32},
    {metric::kNvlinkLinksUp, 0, 64},
    {metric::kProcesses, 0, 100'000},
});

}  // namespace

Bounds::Bounds(const DeviceLimits& limits) {
  ranges_.fill({0, kAnything});
  const auto set = [this](record::MetricId metric, std::int64_t low, std::int64_t high) {
    ranges_[record::slot(metric)] = {low, high};
  };
  for (const Row& row : kFixed) set(row.metric, row.low, row.high);
  const auto& limit = limits.power_limit_max_mw;
  const std::int64_t gpu_mw = limit ? *limit * kPowerOverLimit : kPowerWithoutLimitMw;
  const std::int64_t module_mw = limit ? *limit * kModuleOverLimit : kPowerWithoutLimitMw;
  for (const auto metric : {metric::kPowerAvg, metric::kPowerInst, metric::kPowerMemoryAvg, metric::kPowerMemoryInst})
    set(metric, 1, gpu_mw);
  for (const auto metric : {metric::kPowerModuleAvg, metric::kPowerModuleInst}) set(metric, 1, module_mw);
  set(metric::kMemoryUsed, 0, limits.memory_total_bytes.value_or(kMemoryBytes));
}

std::optional<std::string> Bounds::objection(record::MetricId metric, std::int64_t stored) const {
  const Range range = ranges_[record::slot(metric)];
  if (stored >= range.low && stored <= range.high) return std::nullopt;
  const auto& row = record::info(metric);
  const auto shown = [&](std::int64_t value) { return static_cast<double>(value) * row.step; };
  return fmt::format("the driver says {:g} {}, possible is {:g} to {:g}: not stored", shown(stored), row.unit,
                     shown(range.low), shown(range.high));
}

}  // namespace gradwatt::nvml
