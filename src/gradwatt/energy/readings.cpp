#include "gradwatt/energy/readings.hpp"

#include <algorithm>

namespace gradwatt::energy {
namespace {

/// Enough distances for a median; more would only cost time.
constexpr std::size_t kDistancesForCadence = 2001;

std::int64_t median_distance_ns(std::span<const std::int64_t> time_ns) {
  if (time_ns.size() < 2) return 0;
  std::vector<std::int64_t> distances;
  const auto stride = std::max<std::size_t>(1, (time_ns.size() - 1) / kDistancesForCadence);
  for (std::size_t i = 1; i < time_ns.size(); i += stride) distances.push_back(time_ns[i] - time_ns[i - 1]);
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  return std::max<std::int64_t>(1, *middle);
}

}  // namespace

Readings Readings::of(const record::DeviceSeries& series, const record::Column& column) {
  Readings out;
  const auto missing = static_cast<std::size_t>(std::ranges::count(column.values, record::kMissing));
  if (missing == 0) {
    out.time_ns_ = series.time_ns;
    out.values_ = column.values;
    return out;
  }
  out.own_time_ns_.reserve(series.size() - missing);
  out.own_values_.reserve(series.size() - missing);
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (!column.has(i)) continue;
    out.own_time_ns_.push_back(series.time_ns[i]);
    out.own_values_.push_back(column.values[i]);
  }
  out.time_ns_ = out.own_time_ns_;
  out.values_ = out.own_values_;
  return out;
}

Readings Readings::own(std::vector<std::int64_t> time_ns, std::vector<std::int64_t> values) {
  Readings out;
  out.own_time_ns_ = std::move(time_ns);
  out.own_values_ = std::move(values);
  out.time_ns_ = out.own_time_ns_;
  out.values_ = out.own_values_;
  return out;
}

std::size_t Readings::first_at_or_after(std::int64_t time_ns) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(time_ns_, time_ns) - time_ns_.begin());
}

std::optional<Series> open_series(const record::Run& run, record::DeviceIndex device, record::MetricId metric) {
  const auto* samples = run.find_series(device);
  const auto* column = samples != nullptr ? samples->find(metric) : nullptr;
  if (column == nullptr) return std::nullopt;
  auto readings = Readings::of(*samples, *column);
  if (readings.empty()) return std::nullopt;

  Series out{.device = device, .metric = metric, .readings = std::move(readings)};
  out.quality = run.find_quality(device, metric);
  if (out.quality != nullptr) {
    out.sampling = out.quality->sampling;
    out.cadence_ns = out.quality->cadence_ns;
    out.phase_ns = out.quality->phase_ns;
  }
  if (out.cadence_ns <= 0) {
    out.cadence_ns = median_distance_ns(out.readings.time_ns());
    // Without a period there are no strata to speak of.
    if (out.sampling == record::Sampling::stratified) out.sampling = record::Sampling::irregular;
  }
  return out;
}

}  // namespace gradwatt::energy
