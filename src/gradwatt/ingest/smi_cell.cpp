#include "gradwatt/ingest/smi_cell.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "gradwatt/core/text.hpp"

namespace gradwatt::ingest {
namespace {

struct UnitInfo {
  std::string_view text, metric_unit;
  double factor;
};
constexpr double kKiB = 1024, kMiB = kKiB * 1024, kGiB = kMiB * 1024;
constexpr auto kUnits = std::to_array<UnitInfo>({
    {"w", "w", 1},
    {"watt", "w", 1},
    {"watts", "w", 1},
    {"mw", "w", 1e-3},
    {"milliwatt", "w", 1e-3},
    {"milliwatts", "w", 1e-3},
    {"kw", "w", 1e3},
    {"%", "pct", 1},
    {"pct", "pct", 1},
    {"percent", "pct", 1},
    {"mhz", "mhz", 1},
    {"ghz", "mhz", 1e3},
    {"khz", "mhz", 1e-3},
    {"hz", "mhz", 1e-6},
    {"c", "c", 1},
    {"°c", "c", 1},
    {"celsius", "c", 1},
    {"degc", "c", 1},
    {"b", "bytes", 1},
    {"bytes", "bytes", 1},
    {"byte", "bytes", 1},
    {"kib", "bytes", kKiB},
    {"kb", "bytes", kKiB},
    {"mib", "bytes", kMiB},
    {"mb", "bytes", kMiB},
    {"gib", "bytes", kGiB},
    {"gb", "bytes", kGiB},
    {"ns", "s", 1e-9},
    {"us", "s", 1e-6},
    {"µs", "s", 1e-6},
    {"ms", "s", 1e-3},
    {"s", "s", 1},
});

constexpr auto kFaults = std::to_array<std::string_view>(
    {"unknown error", "err!", "error", "gpu is lost", "gpu requires reset", "reset required"});
constexpr auto kMissing =
    std::to_array<std::string_view>({"", "-", "--", "n/a", "na", "nan", "null", "none", "not supported",
                                     "not available", "insufficient permissions", "function not found"});

}  // namespace

std::optional<double> unit_factor(std::string_view unit, std::string_view metric_unit) {
  const auto lower = core::to_lower(unit);
  for (const auto& row : kUnits)
    if (row.text == lower && row.metric_unit == metric_unit) return row.factor;
  return std::nullopt;
}

bool is_unit(std::string_view text) {
  return std::ranges::find(kUnits, std::string_view(core::to_lower(text)), &UnitInfo::text) != kUnits.end();
}

Cell read_cell(std::string_view text, bool decimal_comma) {
  text = core::trim(text);
  // Numbers first: nearly every cell is one.
  std::array<char, 64> dotted{};
  std::string_view digits = text;
  if (decimal_comma && text.size() < dotted.size() && text.find('.') == std::string_view::npos) {
    std::ranges::copy(text, dotted.begin());
    std::ranges::replace(dotted, ',', '.');
    digits = std::string_view(dotted.data(), text.size());
  }
  const char first = digits.empty() ? '\0' : digits.front();
  if ((first >= '0' && first <= '9') || first == '-' || first == '.' || first == '+') {
    if (first == '+') digits.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error == std::errc{} && std::isfinite(value)) {
      const auto behind = digits.data() + digits.size() - end;
      return {CellKind::number, value, core::trim(text.substr(text.size() - static_cast<std::size_t>(behind)))};
    }
  }
  const bool bracketed = text.size() >= 2 && text.front() == '[' && text.back() == ']';
  const auto lower = core::to_lower(bracketed ? text.substr(1, text.size() - 2) : text);
  if (std::ranges::find(kFaults, std::string_view(lower)) != kFaults.end()) return {CellKind::fault};
  if (bracketed || std::ranges::find(kMissing, std::string_view(lower)) != kMissing.end()) return {CellKind::missing};
  return {CellKind::text};
}

}  // namespace gradwatt::ingest
