// One row of a table in an nvidia-smi query file, and whose readings it holds.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "gradwatt/ingest/sample_table.hpp"
#include "gradwatt/ingest/smi_layout.hpp"

namespace gradwatt::ingest {

/// The number of the GPU in rows of a table that has no columns by GPU.
inline constexpr int kNotWide = -1;

/// A view: valid as long as its line and its layout.
struct SmiRow {
  const Layout& layout;
  std::span<const std::string_view> cells;  ///< one a column
  std::size_t line = 0;                     ///< for messages
  bool ended = false;                       ///< false: the last line, and no line end follows it
};

/// What the row says of the GPU that it is of. `wide_gpu` is the GPU whose columns are read, or kNotWide.
[[nodiscard]] Identity identity_of(const SmiRow& row, int wide_gpu);

/// Some cell holds a reading: tells a row from other text with as many cells.
[[nodiscard]] bool has_any_value(const SmiRow& row);

}  // namespace gradwatt::ingest
