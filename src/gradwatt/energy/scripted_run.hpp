// Runs written by hand, for the tests of the analyses: devices, readings and marks in a line each, in seconds and
// watts. Times start at kStart_s, because a record's clock never starts at 0.
#pragma once

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gradwatt/record/run.hpp"

namespace gradwatt::energy::scripted {

inline constexpr double kStart_s = 1000;

inline std::int64_t at(double seconds) { return std::llround((kStart_s + seconds) * 1e9); }

/// Uniform in [low, high): the same numbers with every standard library.
inline double uniform(std::mt19937_64& rng, double low, double high) {
  return low + (high - low) * static_cast<double>(rng() >> 11U) * 0x1p-53;
}

class ScriptedRun {
 public:
  explicit ScriptedRun(double duration_s) {
    run.set(record::meta::kRunId, "scripted");
    run.set(record::meta::kJobBegin, at(0));
    run.set(record::meta::kJobEnd, at(duration_s));
    run.set(record::meta::kComplete, "1");
    run.set(record::meta::kExitStatus, "0");
  }

  record::DeviceIndex add(record::DeviceKind kind, int index, std::string uuid = {}) {
    record::Device device{.kind = kind, .index = index, .host = "node1"};
    device.uuid = uuid.empty() ? std::string(record::name_of(kind)) + "-" + std::to_string(index) : std::move(uuid);
    run.devices.push_back(std::move(device));
    return static_cast<record::DeviceIndex>(run.devices.size() - 1);
  }

  /// Readings in seconds and the metric's unit; NaN is a reading that is missing. All columns of a device that are
  /// written this way share the first one's times.
  void readings(record::DeviceIndex device, record::MetricId metric, std::vector<std::pair<double, double>> points) {
    auto& series = series_of(device);
    if (series.time_ns.empty())
      for (const auto& [t, value] : points) series.time_ns.push_back(at(t));
    auto& column = series.column(metric);
    for (std::size_t i = 0; i < points.size(); ++i)
      column.values[i] =
          std::isnan(points[i].second) ? record::kMissing : std::llround(points[i].second / record::info(metric).step);
  }

  record::SeriesQuality& quality(record::DeviceIndex device, record::MetricId metric) {
    for (auto& q : run.quality)
      if (q.device == device && q.metric == metric) return q;
    record::SeriesQuality q{.device = device, .metric = metric};
    q.how = record::info(metric).type == record::MetricType::counter ? record::How::counter : record::How::integrated;
    q.cadence_ns = 1'000'000'000;
    q.sampling = record::Sampling::deadline;
    run.quality.push_back(q);
    return run.quality.back();
  }

  /// `level(t)` every `period_s` from `from_s` on, the end included.
  void every(record::DeviceIndex device, record::MetricId metric, double from_s, double to_s, double period_s,
             const std::function<double(double)>& level) {
    std::vector<std::pair<double, double>> points;
    for (int k = 0; from_s + k * period_s <= to_s + 1e-9; ++k) {
      const double t = from_s + k * period_s;
      points.emplace_back(t, level(t));
    }
    readings(device, metric, std::move(points));
    quality(device, metric).cadence_ns = std::llround(period_s * 1e9);
  }

  /// `level(t)` at one uniformly random instant of each period, as the sampler takes power.
  void stratified(record::DeviceIndex device, record::MetricId metric, double to_s, double period_s,
                  std::mt19937_64& rng, const std::function<double(double)>& level) {
    std::vector<std::pair<double, double>> points;
    for (int k = 0; k * period_s < to_s; ++k) {
      const double t = (k + uniform(rng, 0, 1)) * period_s;
      if (t <= to_s) points.emplace_back(t, level(t));
    }
    readings(device, metric, std::move(points));
    auto& q = quality(device, metric);
    q.cadence_ns = std::llround(period_s * 1e9);
    q.sampling = record::Sampling::stratified;
    q.phase_ns = at(0);
  }

  record::Mark& mark(record::MarkKind kind, std::int32_t rank, std::int64_t number, double from_s, double to_s) {
    record::Mark mark{.rank = rank, .kind = kind, .number = number, .begin_ns = at(from_s), .end_ns = at(to_s)};
    run.marks.push_back(std::move(mark));
    return run.marks.back();
  }

  void fact(std::string name, std::variant<double, std::string> value) {
    run.facts.push_back({.name = std::move(name), .subject = "job", .value = std::move(value)});
  }

  void event(std::string kind, double t, std::optional<record::DeviceIndex> device, std::string text) {
    record::Event event{.time_ns = at(t), .kind = std::move(kind), .text = std::move(text)};
    if (device) event.device = number(*device);
    run.events.push_back(std::move(event));
  }

  record::Run run;

 private:
  record::DeviceSeries& series_of(record::DeviceIndex device) {
    for (auto& series : run.series)
      if (series.device == device) return series;
    run.series.push_back({.device = device});
    return run.series.back();
  }
};

}  // namespace gradwatt::energy::scripted
