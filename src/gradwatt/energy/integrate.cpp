#include "gradwatt/energy/integrate.hpp"

#include <cmath>
#include <utility>

#include "gradwatt/energy/uncertainty.hpp"

namespace gradwatt::energy {
namespace {

/// Differences of neighbours overlap, so they carry about two thirds of their number of degrees of freedom.
constexpr double kDegreesPerDifference = 2.0 / 3.0;

std::optional<double> sampling_half_width(const Series& power, const Holding& holding) {
  const auto values = power.readings.values().subspan(holding.first, holding.weight_ns.size());
  double variance = 0;
  std::int64_t pairs = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double area = holding.weight_ns[i - 1] * holding.weight_ns[i];
    if (area <= 0) continue;
    const auto difference = static_cast<double>(values[i] - values[i - 1]);
    variance += area * difference * difference / 2;
    ++pairs;
  }
  if (pairs == 0) return std::nullopt;
  // n readings make n − 1 pairs.
  variance *= static_cast<double>(pairs + 1) / static_cast<double>(pairs);
  const double scale = power.step() * kSecondsPerNanosecond;
  return student_95(kDegreesPerDifference * static_cast<double>(pairs)) * std::sqrt(variance) * scale;
}

}  // namespace

std::optional<IntegratedEnergy> integrate(const Series& power, Window window) {
  auto holding = hold(power, window);
  if (holding.covered_ns <= 0) return std::nullopt;
  const auto values = power.readings.values().subspan(holding.first, holding.weight_ns.size());
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += holding.weight_ns[i] * static_cast<double>(values[i]);

  IntegratedEnergy out;
  out.energy_j = sum * power.step() * kSecondsPerNanosecond;
  out.covered_s = holding.covered_s();
  out.sampling_j = sampling_half_width(power, holding);
  out.edge_step_w = std::abs(static_cast<double>(values.back() - values.front())) * power.step();
  out.pieces = std::move(holding.pieces);
  return out;
}

}  // namespace gradwatt::energy
