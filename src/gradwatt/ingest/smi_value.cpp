#include "gradwatt/ingest/smi_value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace gradwatt::ingest {
namespace {

struct Range {
  std::string_view unit;
  double low, high;
};
constexpr auto kRanges = std::to_array<Range>({
    {"w", 0, 1e6},
    {"pct", 0, 100},
    {"mhz", 0, 20'000},
    {"c", -100, 250},
    {"bytes", 0, 1e15},
    {"s", 0, 1e9},
    {"bits", 0, 4e18},
    {"pstate", 0, 31},
    {"gen", 0, 16},
    {"lanes", 0, 64},
    {"count", 0, 1e15},
});

/// P0 of a performance state, 0x… of bits.
std::optional<double> special_value(record::MetricId metric, std::string_view text) {
  const auto& row = record::info(metric);
  int base = 0;
  if (row.unit == "pstate" && text.starts_with('P')) base = 10, text.remove_prefix(1);
  if (row.unit == "bits" && (text.starts_with("0x") || text.starts_with("0X"))) base = 16, text.remove_prefix(2);
  std::uint64_t value = 0;
  if (base == 0 || text.empty()) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return static_cast<double>(value);
}

}  // namespace

bool is_possible(record::MetricId metric, double value) {
  const auto& row = record::info(metric);
  if (row.name == "fan_speed") return value >= 0 && value <= 200;  // NVML: may exceed 100
  const auto* range = std::ranges::find(kRanges, row.unit, &Range::unit);
  return range != kRanges.end() && value >= range->low && value <= range->high;
}

CellValue value_of(const LayoutColumn& column, record::MetricId metric, std::string_view text, bool decimal_comma) {
  if (const auto special = special_value(metric, text)) return {CellKind::number, special};
  const auto cell = read_cell(text, decimal_comma);
  if (cell.kind != CellKind::number) return {cell.kind};
  double factor = column.factor;
  if (!cell.unit.empty() && !column.fixed_factor) {
    const auto of_cell = unit_factor(cell.unit, record::info(metric).unit);
    if (!of_cell) return {CellKind::text};
    factor = *of_cell;
  }
  return {CellKind::number, cell.value * factor, !cell.unit.empty()};
}

}  // namespace gradwatt::ingest
