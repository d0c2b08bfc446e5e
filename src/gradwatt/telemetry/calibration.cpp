#include "gradwatt/telemetry/calibration.hpp"

#include <algorithm>

namespace gradwatt::telemetry {
namespace {

bool watched(record::MetricId metric) {
  const auto& row = record::info(metric);
  return row.unit == "j" || (row.unit == "w" && row.name.find("limit") == std::string_view::npos);
}

}  // namespace

bool UpdateWatch::worth(const std::vector<SensorDevice>& devices) {
  return std::ranges::any_of(devices, [](const SensorDevice& d) {
    return std::ranges::any_of(
        d.series, [](const SeriesSpec& s) { return watched(s.metric) && s.how != record::How::modelled; });
  });
}

void UpdateWatch::see(const Reading& reading) {
  for (const auto& cell : reading.cells()) {
    if (!watched(cell.metric) || cell.stored == record::kMissing) continue;
    const auto [it, fresh] = tracks_.try_emplace({cell.device, cell.metric}, Track{cell.stored, {}, {}, 0});
    auto& track = it->second;
    if (fresh || track.value == cell.stored) continue;
    track.value = cell.stored;
    if (track.changes++ == 0) track.first_change = reading.begin();
    track.last_change = reading.begin();
  }
}

std::vector<UpdateWatch::Found> UpdateWatch::found() const {
  std::vector<Found> all;
  for (const auto& [key, track] : tracks_)
    if (track.changes >= 3)
      all.push_back({key.first, key.second, (track.last_change - track.first_change) / (track.changes - 1)});
  return all;
}

void LatencyBook::add(core::Duration d) {
  longest_ = std::max(longest_, d);
  if (recent_.size() < kKept) {
    recent_.push_back(d);
  } else {
    recent_[next_] = d;
  }
  next_ = (next_ + 1) % kKept;
}

std::optional<core::Duration> LatencyBook::median() const {
  if (recent_.empty()) return std::nullopt;
  auto sorted = recent_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

std::optional<core::Duration> LatencyBook::undisturbed() const {
  if (recent_.size() < 5) return std::nullopt;
  core::Duration least = core::Duration::max();
  for (std::size_t i = 1; i <= 5; ++i) least = std::min(least, recent_[(next_ + recent_.size() - i) % recent_.size()]);
  return least;
}

}  // namespace gradwatt::telemetry
