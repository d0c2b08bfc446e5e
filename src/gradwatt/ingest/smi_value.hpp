// What a cell of a known column is worth, in its metric's unit.
#pragma once

#include <optional>
#include <string_view>

#include "gradwatt/ingest/smi_cell.hpp"
#include "gradwatt/ingest/smi_layout.hpp"
#include "gradwatt/record/metric.hpp"

namespace gradwatt::ingest {

struct CellValue {
  CellKind kind = CellKind::text;  ///< text: no value of this column
  std::optional<double> value;     ///< of kind number, in the metric's unit
  bool has_unit = false;           ///< a unit stood behind the number
};

/// P0 and 0x… masks are numbers where the metric has such; a unit that does not fit the metric makes it text.
[[nodiscard]] CellValue value_of(const LayoutColumn& column, record::MetricId metric, std::string_view text,
                                 bool decimal_comma);

/// False for what no device can report: negative power, 4294967295 %, sentinels.
[[nodiscard]] bool is_possible(record::MetricId metric, double value);

}  // namespace gradwatt::ingest
