#include "gradwatt/energy/whole_job.hpp"

#include <algorithm>
#include <cmath>

namespace gradwatt::energy {
namespace {

bool counts(const record::MetricId metric) { return record::info(metric).kind != record::DeviceKind::node; }

}  // namespace

std::optional<WholeJobEnergy> whole_job_energy(const std::vector<Measured>& devices, Window window) {
  WholeJobEnergy out;
  bool any = false;
  for (const auto& device : devices) {
    if (!device.series || !device.figure.in_total || !counts(device.series->metric)) continue;
    const auto part = energy_within(device, window);
    if (!part || part->covered_s < kLeastCoverage * window.seconds()) return std::nullopt;
    any = true;
    out.energy_j += part->energy_j;
    out.power_w += part->energy_j / part->covered_s;
    out.edges_j = std::hypot(out.edges_j, part->edges_j);
    out.how = std::max(out.how, device.figure.how);
  }
  if (!any) return std::nullopt;
  return out;
}

std::int64_t resolved_ns(const std::vector<Measured>& devices) {
  std::int64_t slowest = 0;
  for (const auto& device : devices)
    if (device.series && device.figure.in_total && counts(device.series->metric))
      slowest = std::max(slowest, resolution_ns(device));
  return kLeastUpdates * slowest;
}

}  // namespace gradwatt::energy
