#include "gradwatt/energy/counter_energy.hpp"

#include <algorithm>
#include <cmath>

namespace gradwatt::energy {
namespace {

/// Readings at random instants of neighbouring periods lie up to two cadences apart.
constexpr std::int64_t kNeighbourCadences = 2;

/// An instant on the counter's line: a reading, or a fraction of the way to the next one.
struct Place {
  std::size_t index = 0;
  double fraction = 0;
  std::int64_t time_ns = 0;
};

std::optional<Place> between(const Series& counter, std::size_t after, std::int64_t time_ns) {
  const auto t = counter.readings.time_ns();
  if (after == 0 || after >= t.size()) return std::nullopt;
  const auto distance = t[after] - t[after - 1];
  if (distance <= 0 || distance > kNeighbourCadences * counter.cadence_ns) return std::nullopt;
  return Place{after - 1, static_cast<double>(time_ns - t[after - 1]) / static_cast<double>(distance), time_ns};
}

std::optional<Place> first_place(const Series& counter, Window window) {
  const auto t = counter.readings.time_ns();
  const auto i = counter.readings.first_at_or_after(window.begin_ns);
  if (i == t.size()) return std::nullopt;
  if (t[i] != window.begin_ns)
    if (const auto place = between(counter, i, window.begin_ns)) return place;
  return Place{i, 0, t[i]};
}

std::optional<Place> last_place(const Series& counter, Window window) {
  const auto t = counter.readings.time_ns();
  const auto i = counter.readings.first_at_or_after(window.end_ns);
  if (i < t.size() && t[i] == window.end_ns) return Place{i, 0, t[i]};
  if (const auto place = between(counter, i, window.end_ns)) return place;
  if (i == 0) return std::nullopt;
  return Place{i - 1, 0, t[i - 1]};
}

/// Growth of the total from the reading before the place to the place.
double part_units(std::span<const std::int64_t> values, Place place) {
  if (place.fraction == 0) return 0;
  return place.fraction * static_cast<double>(values[place.index + 1] - values[place.index]);
}

/// The true line may run anywhere between the two readings: at most the larger part of the step away.
double part_doubt(std::span<const std::int64_t> values, Place place) {
  if (place.fraction == 0) return 0;
  const double larger = std::max(place.fraction, 1 - place.fraction);
  return larger * static_cast<double>(values[place.index + 1] - values[place.index]);
}

/// Time of the stretches between readings in which a reset fell.
double unknown_s(const Series& counter, Window covered, std::span<const std::int64_t> reset_ns) {
  const auto t = counter.readings.time_ns();
  double sum = 0;
  std::size_t done = 0;
  for (const auto at : reset_ns) {
    const auto i = counter.readings.first_at_or_after(at);
    if (i == 0 || i >= t.size() || i == done) continue;
    done = i;
    sum += overlap({t[i - 1], t[i]}, covered).seconds();
  }
  return sum;
}

}  // namespace

std::optional<CounterEnergy> counter_energy(const Series& counter, Window window,
                                            std::span<const std::int64_t> reset_ns) {
  const auto first = first_place(counter, window);
  const auto last = last_place(counter, window);
  if (!first || !last || last->time_ns <= first->time_ns) return std::nullopt;

  const auto values = counter.readings.values();
  const std::int64_t whole = values[last->index] - values[first->index];
  // Steps like 1e-6 are not exact in binary, their inverses are: 1 234 567 µJ is 1.234567 J, not 1.2345669999.
  const double per_joule = std::round(1 / counter.step());
  CounterEnergy out;
  out.energy_j = (static_cast<double>(whole) + part_units(values, *last) - part_units(values, *first)) / per_joule;
  out.edges_j = std::hypot(part_doubt(values, *first), part_doubt(values, *last)) / per_joule;
  out.covered = {first->time_ns, last->time_ns};
  out.covered_s = std::max(0.0, out.covered.seconds() - unknown_s(counter, out.covered, reset_ns));
  return out;
}

Window on_edge_readings(const Series& counter, Window job) {
  const auto t = counter.readings.time_ns();
  const auto after = counter.readings.first_at_or_after(job.end_ns);
  if (after < t.size() && t[after] - job.end_ns <= kEdgeReading_ns) job.end_ns = t[after];
  const auto inside = counter.readings.first_at_or_after(job.begin_ns);
  if (inside > 0 && job.begin_ns - t[inside - 1] <= kEdgeReading_ns) job.begin_ns = t[inside - 1];
  return job;
}

std::vector<std::int64_t> resets_of(const record::Run& run, const Series& counter) {
  std::vector<std::int64_t> times;
  if (counter.quality == nullptr || counter.quality->resets == 0) return times;
  for (const auto& event : run.events)
    if (event.kind == "counter.reset" && event.device == number(counter.device)) times.push_back(event.time_ns);
  std::ranges::sort(times);
  if (times.size() > counter.quality->resets) times.resize(counter.quality->resets);
  return times;
}

std::optional<Series> power_from(const Series& counter, record::MetricId power) {
  const auto t = counter.readings.time_ns();
  const auto v = counter.readings.values();
  if (t.size() < 2) return std::nullopt;
  const double stored_per_second = counter.step() / record::info(power).step / kSecondsPerNanosecond;
  std::vector<std::int64_t> times, values;
  times.reserve(t.size() - 1);
  values.reserve(t.size() - 1);
  for (std::size_t i = 1; i < t.size(); ++i) {
    times.push_back(t[i]);
    values.push_back(
        std::llround(static_cast<double>(v[i] - v[i - 1]) * stored_per_second / static_cast<double>(t[i] - t[i - 1])));
  }
  Series out{.device = counter.device, .metric = power, .readings = Readings::own(std::move(times), std::move(values))};
  out.sampling = record::Sampling::irregular;
  out.cadence_ns = counter.cadence_ns;
  return out;
}

}  // namespace gradwatt::energy
