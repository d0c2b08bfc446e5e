#include "gradwatt/energy/consequences.hpp"

namespace gradwatt::energy {
namespace {
constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kSecondsPerHour = 3600;
}  // namespace

Consequences consequences_of(std::optional<double> energy_j, const Factors& factors) {
  Consequences out;
  if (!energy_j) return out;
  if (factors.pue) out.facility_energy_j = *energy_j * *factors.pue;
  const double billed_kwh = out.facility_energy_j.value_or(*energy_j) / kJoulesPerKwh;
  if (factors.price_per_kwh) out.price = billed_kwh * *factors.price_per_kwh;
  if (factors.co2_g_per_kwh) out.co2_g = billed_kwh * *factors.co2_g_per_kwh;
  return out;
}

std::optional<double> kwh_per_gpu_hour(const Component& gpu, double duration_s) {
  double energy_j = 0, gpu_s = 0;
  for (const auto& device : gpu.devices) {
    if (!device.in_total || !device.energy_j) continue;
    energy_j += *device.energy_j;
    gpu_s += device.coverage * duration_s;
  }
  if (gpu_s <= 0) return std::nullopt;
  return energy_j / kJoulesPerKwh / (gpu_s / kSecondsPerHour);
}

}  // namespace gradwatt::energy
