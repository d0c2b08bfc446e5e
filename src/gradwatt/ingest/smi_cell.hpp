// One value of a recording: number, unit, or one of the many ways to say that there is none.
#pragma once

#include <optional>
#include <string_view>

namespace gradwatt::ingest {

/// What a unit written in a file is in the metric table's unit: "MiB" is 1048576 bytes. Nothing where it does not
/// measure that. `metric_unit` is record::Metric::unit. Case does not matter. MB and GB are read as MiB and GiB:
/// scripts that divide NVML's bytes by 1024² label the result MB.
[[nodiscard]] std::optional<double> unit_factor(std::string_view unit, std::string_view metric_unit);

/// True for a unit of any kind: tells "W" in a header from part of a name.
[[nodiscard]] bool is_unit(std::string_view text);

enum class CellKind {
  number,
  missing,  ///< "[N/A]", "[Not Supported]", "", "-", …: the device has no such reading
  fault,    ///< "[Unknown Error]", "ERR!", "[GPU is lost]", "[GPU requires reset]": it has one and could not give it
  text,     ///< anything else
};

struct Cell {
  CellKind kind = CellKind::text;
  double value = 0;       ///< of a number, as written
  std::string_view unit;  ///< behind the number, empty where none stands
};

/// `decimal_comma`: 126,96 is a number too (files that separate by semicolon or tab).
[[nodiscard]] Cell read_cell(std::string_view text, bool decimal_comma = false);

}  // namespace gradwatt::ingest
