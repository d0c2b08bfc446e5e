// The table that `nvidia-smi` prints without options, once or every few seconds: two or three lines a GPU.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/ingest/line_reader.hpp"
#include "gradwatt/ingest/smi_looks.hpp"

namespace gradwatt::ingest {

class SmiTable {
 public:
  explicit SmiTable(SmiLooks& looks) : looks_(looks) {}
  /// True: the line is part of a table, or the date above one.
  bool take(const Line& line);
  /// After the last line of the file.
  void end() { flush(); }

 private:
  enum class Part { none, head, gpus, other };
  struct Gpu {
    int index = -1;
    SmiLook look;
    int lines = 0;  ///< seen of its row
    std::size_t processes = 0;
  };

  bool take_row(const Line& line);
  void take_first(const std::vector<std::string_view>& cells, std::size_t line);
  void take_second(Gpu& gpu, const std::vector<std::string_view>& cells) const;
  void take_process(std::string_view text);
  void flush();

  SmiLooks& looks_;
  Part part_ = Part::none;
  std::optional<ParsedTime> date_;  // of the line before a table
  std::optional<ParsedTime> time_;  // of the table that is read
  std::size_t date_line_ = 0;
  std::string driver_;
  std::vector<Gpu> gpus_;  // of the table that is read
};

}  // namespace gradwatt::ingest
