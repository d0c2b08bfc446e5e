// What the columns of an nvidia-smi query file, or of a script's own CSV, mean: names are data.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/ingest/timestamp.hpp"
#include "gradwatt/record/metric.hpp"

namespace gradwatt::ingest {

enum class Role : std::uint8_t {
  unknown,
  time,
  index,
  uuid,
  bus_id,
  name,
  host,
  metric,
  plain_power,  ///< power.draw: an average or a short window, by GPU generation
  reason,       ///< one clock event reason, "Active" or "Not Active": `detail` is its bit
  fixed,        ///< holds for the whole run: device attribute `detail`, perhaps fact `fact`
  foreign,      ///< shows that the table lists something else: processes, retired pages
  bare,         ///< a wide column that names a GPU and nothing else: "GPU0"
};

struct ColumnMeaning {
  Role role = Role::unknown;
  std::optional<record::MetricId> metric;
  std::string_view detail;  ///< attribute, or the reason's bit in decimal
  std::string_view fact;    ///< fact of the same value
  std::string_view unit;    ///< unit where the file names none: of nvidia-smi's `nounits`
  // What the header cell itself says:
  std::string name;          ///< as written, without unit
  std::string written_unit;  ///< "W" of "power.draw [W]"; empty where none
  std::optional<int> gpu;    ///< of a wide column: 1 in "gpu1_power_w"
  TimeUnit time_unit = TimeUnit::automatic;
  bool official = false;  ///< nvidia-smi's own name
};

/// What one header cell means. Unknown names keep Role::unknown.
[[nodiscard]] ColumnMeaning meaning_of(std::string_view header_cell);

}  // namespace gradwatt::ingest
