// How figures are said to people: the unit by size, the origin in words, missing as a dash.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/energy/summary.hpp"

namespace gradwatt::report {

/// "912 J" below 1 Wh, then "12.3 Wh", "1.23 kWh", "4.56 MWh".
[[nodiscard]] std::string energy_text(double energy_j);
/// Energy of one sample or step, which no meter shows in Wh: "0.420 J", "1.23 kJ".
[[nodiscard]] std::string small_energy_text(double energy_j);
[[nodiscard]] std::string power_text(double power_w);
/// 0.38 -> "38 %"; below one per cent one decimal; "<0.1 %" for the smallest.
[[nodiscard]] std::string share_text(double share);
/// 0.98765 -> "98.7 %", cut, so that nothing incomplete is called 100 %.
[[nodiscard]] std::string coverage_text(double coverage);
/// Three significant digits without a unit: 6.41, 820, 0.0123.
[[nodiscard]] std::string number_text(double value);
/// Thousands apart: 11 220.
[[nodiscard]] std::string count_text(std::int64_t count);
/// "±5 %", "−30/+40 %"; nothing without an interval or a figure.
[[nodiscard]] std::optional<std::string> range_text(std::optional<double> value, std::optional<double> low,
                                                    std::optional<double> high);
/// "counter", "integrated from power", "modelled", "estimated", with "imported, " in front where the figure comes from
/// elsewhere than the run itself.
[[nodiscard]] std::string origin_text(record::How how, record::Where where, record::Where run_where);
/// Sum of the components' average powers; nothing when none was measured.
[[nodiscard]] std::optional<double> total_power_w(const energy::Totals& totals);
/// "GPU", "CPU", "RAM", "rest".
[[nodiscard]] std::string component_text(std::string_view component);
/// "0", "137 (signal 9)"; "unknown" when the record does not say.
[[nodiscard]] std::string exit_status_text(std::optional<std::int64_t> status);
/// Seconds in words; see core::format_duration.
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace gradwatt::report
