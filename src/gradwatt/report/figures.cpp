#include "gradwatt/report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradwatt/core/text.hpp"

namespace gradwatt::report {
namespace {

constexpr double kJoulesPerWattHour = 3600;

std::string percent(double share) {
  const double value = std::abs(share) * 100;
  return value >= 9.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

}  // namespace

std::string energy_text(double energy_j) {
  return std::abs(energy_j) < kJoulesPerWattHour ? core::format_si(energy_j, "J")
                                                 : core::format_si(energy_j / kJoulesPerWattHour, "Wh");
}

std::string small_energy_text(double energy_j) {
  if (std::abs(energy_j) >= 0.01 && std::abs(energy_j) < 1) return fmt::format("{:.3f} J", energy_j);
  return core::format_si(energy_j, "J");
}

std::string power_text(double power_w) { return core::format_si(power_w, "W"); }

std::string share_text(double share) {
  const double value = share * 100;
  if (value <= 0) return "0 %";
  if (value < 0.1) return "<0.1 %";
  return value < 9.95 ? fmt::format("{:.1f} %", value) : fmt::format("{:.0f} %", value);
}

std::string coverage_text(double coverage) {
  return fmt::format("{:.1f} %", std::floor(std::clamp(coverage, 0.0, 1.0) * 1000 + 1e-9) / 10);
}

std::string number_text(double value) {
  const double size = std::abs(value);
  if (size >= 99.95) return count_text(std::llround(value));
  const int decimals = size >= 9.995 ? 1 : size >= 0.9995 ? 2 : size >= 0.09995 ? 3 : 4;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string count_text(std::int64_t count) {
  auto digits = fmt::format("{}", count);
  const std::size_t first = digits.starts_with('-') ? 1 : 0;
  if (digits.size() - first <= 4) return digits;  // 4711 reads better unbroken
  for (std::size_t i = digits.size(); i > first + 3; i -= 3) digits.insert(i - 3, 1, ' ');
  return digits;
}

std::optional<std::string> range_text(std::optional<double> value, std::optional<double> low,
                                      std::optional<double> high) {
  if (!value || !low || !high || *value <= 0) return std::nullopt;
  const double below = std::max(0.0, 1 - *low / *value);
  const double above = std::max(0.0, *high / *value - 1);
  const double larger = std::max(below, above);
  if (larger < 0.0005) return std::nullopt;  // what would print as ±0.0 %
  if (larger - std::min(below, above) < 0.1 * larger) return fmt::format("±{} %", percent(larger));
  return fmt::format("−{}/+{} %", percent(below), percent(above));
}

std::string origin_text(record::How how, record::Where where, record::Where run_where) {
  const std::string prefix = where == run_where ? "" : std::string(name_of(where)) + ", ";
  return prefix + (how == record::How::integrated ? "integrated from power" : std::string(name_of(how)));
}

std::optional<double> total_power_w(const energy::Totals& totals) {
  std::optional<double> sum;
  for (const auto& c : totals.components)
    if (c.energy_j && c.power_avg_w) sum = sum.value_or(0) + *c.power_avg_w;
  return sum;
}

std::string component_text(std::string_view component) {
  std::string text(component);
  if (component == "gpu" || component == "cpu" || component == "ram")
    std::ranges::transform(text, text.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  return text;
}

std::string exit_status_text(std::optional<std::int64_t> status) {
  if (!status) return "unknown";
  if (*status > 128 && *status < 128 + 65) return fmt::format("{} (signal {})", *status, *status - 128);
  return fmt::format("{}", *status);
}

std::string duration_text(double seconds) {
  return core::format_duration(std::chrono::nanoseconds(std::llround(seconds * 1e9)));
}

}  // namespace gradwatt::report
