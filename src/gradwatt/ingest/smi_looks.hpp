// What nvidia-smi shows of the GPUs at one moment, whichever of its outputs it is: the table, -q, -q -x, dmon.
//
// Each of those readers turns a GPU into fields under the names of `nvidia-smi --query-gpu`; from there on units,
// meanings and faults are those of the query files (smi_columns.hpp). Looks with a time become a series; what is
// configuration, and all of a file that looks only once or without a clock, becomes facts (gpu.*).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/file_clock.hpp"
#include "gradwatt/ingest/line_witness.hpp"
#include "gradwatt/ingest/smi_layout.hpp"
#include "gradwatt/ingest/smi_readings.hpp"
#include "gradwatt/ingest/timestamp.hpp"

namespace gradwatt::ingest {

struct SmiField {
  std::string name;        ///< nvidia-smi's query name, without unit: "power.draw"; of an attribute, its name
  std::string text;        ///< as printed: "76 W", "[N/A]", "Active"
  bool attribute = false;  ///< of the device, and nothing that can be queried
};

/// One GPU at one moment.
struct SmiLook {
  std::vector<SmiField> fields;
  std::size_t line = 0;
};

class SmiLooks {
 public:
  /// All outlive this.
  SmiLooks(const std::string& file, const ImportOptions& options, Diagnostics& notes);

  /// Time of the looks that follow; nothing: the output does not say it.
  void at(std::optional<ParsedTime> time, std::size_t line);
  void add(SmiLook look);
  [[nodiscard]] std::uint64_t size() const { return looks_; }
  void finish(Testimony& to);

 private:
  struct Mean {
    double sum = 0, largest = 0;
    std::size_t number = 0, line = 0;
  };
  struct Gpu {
    std::string name;  ///< as subject of facts
    std::size_t looks = 0;
    std::map<std::string_view, Mean> facts;  ///< by fact name
    std::map<std::string, std::string> attributes;
    std::map<std::string, std::string> texts;  ///< fact name -> text
    std::size_t line = 0;
  };

  const Layout& layout_of(const SmiLook& look);
  void take(const SmiLook& look, std::int64_t time_ns);
  void note_facts(const SmiLook& look, const SmiRow& row, std::size_t device);
  void finish_series(Testimony& to, bool timed);
  void finish_facts(Testimony& to, bool timed) const;

  const std::string& file_;
  Diagnostics& notes_;
  FileClock clock_;
  SmiReadings readings_;
  std::map<std::string, Layout, std::less<>> layouts_;  // by the names of their columns
  std::vector<SmiLook> untimed_;
  std::vector<Gpu> gpus_;  // by device of the readings
  std::optional<std::int64_t> time_;
  bool too_many_ = false;
  std::uint64_t looks_ = 0, timed_looks_ = 0;
};

}  // namespace gradwatt::ingest
