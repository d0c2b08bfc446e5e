#include "gradwatt/telemetry/live.hpp"

#include <utility>

namespace gradwatt::telemetry {

std::optional<double> LiveDevice::value(record::MetricId metric) const {
  if (last.values.empty()) return std::nullopt;
  const auto stored = last.values[record::slot(metric)];
  if (stored == record::kMissing) return std::nullopt;
  return static_cast<double>(stored) * record::info(metric).step;
}

std::optional<double> LiveDevice::power_from_energy(record::MetricId energy) const {
  if (last.values.empty() || previous.values.empty() || last.time_ns <= previous.time_ns) return std::nullopt;
  const auto now = last.values[record::slot(energy)];
  const auto before = previous.values[record::slot(energy)];
  if (now == record::kMissing || before == record::kMissing) return std::nullopt;
  const double joules = static_cast<double>(now - before) * record::info(energy).step;
  return joules / (static_cast<double>(last.time_ns - previous.time_ns) * 1e-9);
}

void LiveBoard::add_device(record::DeviceIndex index, const record::Device& device) {
  const std::lock_guard lock(mutex_);
  auto& live = devices_[index];
  live.index = index;
  live.device = device;
}

void LiveBoard::add_row(const record::Row& row) {
  const std::lock_guard lock(mutex_);
  auto& live = devices_[row.device];
  live.previous = std::exchange(live.last, row);
}

std::vector<LiveDevice> LiveBoard::snapshot() const {
  const std::lock_guard lock(mutex_);
  std::vector<LiveDevice> all;
  for (const auto& [index, live] : devices_) all.push_back(live);
  return all;
}

}  // namespace gradwatt::telemetry
