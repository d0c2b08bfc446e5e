// The clock of one foreign file: times of one kind, with the steps of summer time and midnight undone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/timestamp.hpp"

namespace gradwatt::ingest {

class FileClock {
 public:
  explicit FileClock(const ImportOptions& options) : options_(options) {}

  /// The row's time in ns since 1970 UTC (or midnight, or the begin), in file order. Nothing when its kind contradicts
  /// that of the rows before: a date here, seconds there. Jumps are said in `diagnostics`.
  [[nodiscard]] std::optional<std::int64_t> place(const ParsedTime& time, std::size_t line, Diagnostics& diagnostics);

  [[nodiscard]] bool is_absolute() const { return kind_ == TimeKind::utc || kind_ == TimeKind::local; }
  [[nodiscard]] bool zone_known() const {
    return kind_ == TimeKind::utc || (kind_ == TimeKind::local && options_.utc_offset);
  }
  /// No time so far had a fraction.
  [[nodiscard]] bool whole_seconds() const { return whole_seconds_; }

 private:
  std::int64_t undo_jump(std::int64_t ns, TimeKind kind, std::size_t line, Diagnostics& diagnostics);

  const ImportOptions& options_;
  std::optional<TimeKind> kind_;
  std::optional<std::int64_t> last_;
  std::int64_t shift_ = 0, period_ = 0;
  int jumps_undone_ = 0;
  bool whole_seconds_ = true;
};

}  // namespace gradwatt::ingest
