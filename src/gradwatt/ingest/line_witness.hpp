// One kind of evidence inside text: lines of NCCL, a table of nvidia-smi, a training log's steps.
//
// A log holds many kinds at once (a training job prints NCCL's lines, its steps and the kernel's last words into one
// file), so every witness sees the file line by line and claims those that it is sure of. witnesses.cpp lists them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/fact_list.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/line_reader.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::ingest {

/// What a witness adds to when the file has ended.
struct Testimony {
  record::Run& run;
  FactList& facts;
  Diagnostics& notes;
};

class LineWitness {
 public:
  virtual ~LineWitness() = default;
  /// For the user: "NCCL log".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Sees a line that no witness before it claimed. True: the line is of this kind, and what it says is kept.
  virtual bool take(const Line& line) = 0;
  /// A file of this kind that shows no trouble is worth having: nothing was wrong.
  [[nodiscard]] virtual bool clean_is_news() const { return false; }
  /// After the last line, when some line was claimed. Adds facts, and what the run holds besides.
  virtual void finish(Testimony& to) = 0;
};

/// A line without what launchers put before it: "[1,3]<stdout>:", "3: ", "[rank3]:", "[default3]:".
struct RankLine {
  std::optional<std::int32_t> rank;  ///< that the launcher names
  std::string_view text;
};
[[nodiscard]] RankLine without_launcher_prefix(std::string_view text);

}  // namespace gradwatt::ingest
