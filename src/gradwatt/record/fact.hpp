// Facts: all that a run knows and that is no time series. Names come from the table in fact.cpp, so that a facts file
// written by hand and a measured run speak the same words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "gradwatt/record/device.hpp"

namespace gradwatt::record {

enum class FactKind : std::uint8_t { number, text };

struct FactInfo {
  std::string_view name;     ///< dotted, lower case: "sampler.cpu_s"; ends in its unit where it has one
  std::string_view unit;     ///< empty for text and pure numbers
  std::string_view subject;  ///< what it is about: job, host, device, rank, link, process
  std::string_view description;
  FactKind kind = FactKind::number;  ///< of its value; yes and no are 1 and 0
};
[[nodiscard]] std::span<const FactInfo> fact_table();
/// Null when the name is not in the table.
[[nodiscard]] const FactInfo* find_fact(std::string_view name);

struct Fact {
  std::string name;     ///< from the table
  std::string subject;  ///< "job", a device uuid, "rank 3", …
  std::variant<double, std::string> value;
  std::string unit;                     ///< repeats the table's, so that the file reads alone
  std::optional<std::int64_t> time_ns;  ///< when it held, where that matters
  How how = How::counter;
  Where where = Where::live;
  std::optional<double> coverage;  ///< 0–1: share of the run that it rests on
  std::string source;              ///< file and line, driver call or agent
};

[[nodiscard]] inline std::optional<double> as_number(const Fact& fact) {
  const auto* number = std::get_if<double>(&fact.value);
  return number != nullptr ? std::optional(*number) : std::nullopt;
}
[[nodiscard]] inline std::optional<std::string> as_text(const Fact& fact) {
  const auto* text = std::get_if<std::string>(&fact.value);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

}  // namespace gradwatt::record
