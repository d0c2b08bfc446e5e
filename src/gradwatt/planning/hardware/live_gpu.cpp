#include "gradwatt/planning/hardware/live_gpu.hpp"

#include <charconv>
#include <string>

namespace gradwatt::planning {
namespace {

std::optional<double> number(const record::Device& device, const char* attribute) {
  const auto found = device.attributes.find(attribute);
  if (found == device.attributes.end()) return std::nullopt;
  const auto& text = found->second;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

catalog::LiveGpu live_gpu(const record::Device& device) {
  catalog::LiveGpu live;
  if (const auto bytes = number(device, "memory_total_bytes")) live.memory_gb = *bytes / 1e9;
  live.power_default_w = number(device, "power_limit_default_w");
  live.power_min_w = number(device, "power_limit_min_w");
  live.power_max_w = number(device, "power_limit_max_w");
  live.power_enforced_w = number(device, "power_limit_enforced_w");
  live.pcie_gen = number(device, "pcie_gen_max");
  return live;
}

catalog::GpuRow gpu_of(const record::Device& device) {
  const auto* row = catalog::find_gpu(device.name);
  return catalog::with_live(row != nullptr ? *row : catalog::GpuRow{.name = device.name}, live_gpu(device));
}

}  // namespace gradwatt::planning
