#include "gradwatt/diagnosis/window_figures.hpp"

#include "gradwatt/energy/holding.hpp"

namespace gradwatt::diagnosis {

std::optional<Level> level_in(const energy::Series& series, energy::Window window) {
  const auto holding = energy::hold(series, window);
  if (holding.covered_ns <= 0) return std::nullopt;
  const auto values = series.readings.values().subspan(holding.first, holding.weight_ns.size());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += holding.weight_ns[i] * static_cast<double>(values[i]);
  return Level{sum / holding.covered_ns * series.step(), holding.covered_s()};
}

std::optional<Level> level_in(const record::Run& run, record::DeviceIndex device, record::MetricId metric,
                              energy::Window window) {
  const auto series = energy::open_series(run, device, metric);
  return series ? level_in(*series, window) : std::nullopt;
}

std::optional<Growth> growth_in(const record::Run& run, record::DeviceIndex device, record::MetricId counter,
                                energy::Window window) {
  const auto series = energy::open_series(run, device, counter);
  if (!series) return std::nullopt;
  const auto t = series->readings.time_ns();
  const auto v = series->readings.values();
  const auto first = series->readings.first_at_or_after(window.begin_ns);
  auto end = series->readings.first_at_or_after(window.end_ns);
  if (end < t.size() && t[end] == window.end_ns) ++end;
  if (end < first + 2) return std::nullopt;
  return Growth{static_cast<double>(v[end - 1] - v[first]) * series->step(),
                energy::Window{t[first], t[end - 1]}.seconds()};
}

}  // namespace gradwatt::diagnosis
