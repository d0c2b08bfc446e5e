// The columns of one table in an nvidia-smi query file: from its header, or found out where it has none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/result.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/smi_columns.hpp"

namespace gradwatt::ingest {

struct LayoutColumn {
  ColumnMeaning meaning;
  double factor = 1;          ///< metric's unit per number without a unit behind it
  bool fixed_factor = false;  ///< the user gave the unit: units in cells are not looked at
};

struct Layout {
  char separator = ',';
  std::size_t line = 0;  ///< of the header; of the first row where there is none
  std::string header;    ///< as written, to know its repetitions; empty where there is none
  std::vector<LayoutColumn> columns;
  std::optional<std::size_t> time;
  std::vector<int> gpus;              ///< of a wide table, else empty
  std::vector<std::size_t> identity;  ///< columns that say whose reading a row is, or on which host
  bool identified = false;            ///< some column says whose reading a row is
  bool foreign = false;               ///< a table of something else than GPU readings
  bool has_reading = false;           ///< some column is a metric
  std::vector<std::string> notes;     ///< for the user, once the table is used

  /// 126,96 is a number where the comma does not separate.
  [[nodiscard]] bool decimal_comma() const { return separator != ','; }
};

/// The layout that a header line gives; nothing when the line is no header. `file_name` decides what wide columns that
/// name only a GPU hold ("power.csv").
[[nodiscard]] std::optional<Layout> layout_of_header(std::string_view line, std::size_t line_number,
                                                     std::string_view file_name, const ImportOptions& options);

/// The layout of a table without header, found out from its first rows: by the units behind the numbers and the form of
/// times, names and ids. unusable_input when that leaves open what the numbers are.
[[nodiscard]] core::Result<Layout> layout_of_rows(const std::vector<std::string>& rows, std::size_t first_line,
                                                  std::string_view file_name, const ImportOptions& options);

/// Separator that gives most cells, and known columns where there are any.
[[nodiscard]] char likely_separator(std::string_view line);

}  // namespace gradwatt::ingest
