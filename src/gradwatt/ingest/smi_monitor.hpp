// `nvidia-smi dmon`: one row a GPU and second, columns named in a comment line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/ingest/line_reader.hpp"
#include "gradwatt/ingest/smi_looks.hpp"

namespace gradwatt::ingest {

class SmiMonitor {
 public:
  SmiMonitor(SmiLooks& looks, const ImportOptions& options) : looks_(looks), options_(options) {}
  /// True: the line is a head or a row of dmon, or of pmon (processes), which is not read.
  bool take(const Line& line);

 private:
  struct Column {
    std::string_view query, unit;  ///< query empty: not read
  };
  bool take_head(const std::vector<std::string_view>& words);
  bool take_row(const std::vector<std::string_view>& words, std::size_t line);

  SmiLooks& looks_;
  const ImportOptions& options_;
  std::vector<Column> columns_;
  std::optional<std::size_t> date_, time_, gpu_;
  bool processes_ = false;  // the table is pmon's
  std::int64_t tick_ = 0;
  std::int64_t last_gpu_ = -1;
};

}  // namespace gradwatt::ingest
