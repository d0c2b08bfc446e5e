// What was met on the way through one nvidia-smi query file: kinds of trouble, and what the end of the file is judged
// by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gradwatt::ingest {

/// Kinds of trouble, in words that end "the last of 12 …".
namespace trouble {
inline constexpr std::string_view kNotUnderstood = "lines that are no row of the table";
inline constexpr std::string_view kWrongCells = "lines with a wrong number of cells";
inline constexpr std::string_view kNoTime = "rows without a time that can be read";
inline constexpr std::string_view kNoDevice = "rows that do not say which GPU they are of";
inline constexpr std::string_view kBadCell = "cells that are no value of their column";
inline constexpr std::string_view kImpossible = "impossible values, taken as missing";
inline constexpr std::string_view kLongLine = "lines that are too long";
inline constexpr std::string_view kNul = "lines with NUL bytes";
}  // namespace trouble

struct SmiTally {
  std::uint64_t rows = 0;          ///< lines with readings that were used
  std::uint64_t other_lines = 0;   ///< neither header nor row
  std::uint64_t foreign_rows = 0;  ///< of tables of something else than GPU readings
  std::uint64_t untimed_rows = 0;  ///< of tables without time, where the user gave no interval
  std::size_t untimed_line = 0;    ///< of the first such table
  std::string untimed_header;
  std::size_t first_table_line = 0;         ///< of the first table that gave a row
  std::optional<std::string> unread_table;  ///< a table without readings: "line 1: …"
  bool timed = false;                       ///< some used row had a time
  bool cut_off = false;                     ///< the last line was left out because its end is missing
};

}  // namespace gradwatt::ingest
