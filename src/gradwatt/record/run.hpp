// A run: the one contract between what produces figures (a measured job, an import, a replay, a simulation) and what
// reads them (analyses, reports, pages). It is a value in memory; store.hpp keeps it in SQLite.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/record/device.hpp"
#include "gradwatt/record/fact.hpp"
#include "gradwatt/record/mark.hpp"
#include "gradwatt/record/quality.hpp"
#include "gradwatt/record/series.hpp"

namespace gradwatt::record {

/// Keys of Run::meta that the program itself reads. Others may stand beside them.
namespace meta {
inline constexpr std::string_view kRunId = "run_id";
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kHost = "host";
inline constexpr std::string_view kCommand = "command";          ///< redacted, shell-quoted
inline constexpr std::string_view kVersion = "gradwatt_version";
inline constexpr std::string_view kWhere = "where";              ///< live, imported, replayed, simulated
inline constexpr std::string_view kClock = "clock";              ///< "monotonic" or "wall"
inline constexpr std::string_view kZoneKnown = "wall_zone_known";  ///< "1" or "0": of an import's wall times
inline constexpr std::string_view kAnchorMonotonic = "anchor_monotonic_ns";
inline constexpr std::string_view kAnchorWall = "anchor_wall_ns";
inline constexpr std::string_view kJobBegin = "job_begin_ns";    ///< same clock as the samples
inline constexpr std::string_view kJobEnd = "job_end_ns";        ///< absent while running or after a crash
inline constexpr std::string_view kExitStatus = "exit_status";   ///< absent while unknown
inline constexpr std::string_view kComplete = "complete";        ///< "1" once the recorder closed the record itself
inline constexpr std::string_view kInterval = "interval_ns";
inline constexpr std::string_view kSource = "source";            ///< file of an import
inline constexpr std::string_view kFollows = "follows";          ///< "command", "pid", "node"
}  // namespace meta

struct Run {
  std::map<std::string, std::string, std::less<>> meta;
  std::vector<Device> devices;       ///< DeviceIndex is the position
  std::vector<DeviceSeries> series;  ///< one a device that has samples
  std::vector<SeriesQuality> quality;
  std::vector<Mark> marks;
  std::vector<Event> events;
  std::vector<Fact> facts;
  std::vector<Span> spans;

  [[nodiscard]] const Device& device(DeviceIndex i) const { return devices[number(i)]; }
  [[nodiscard]] const DeviceSeries* find_series(DeviceIndex i) const;
  [[nodiscard]] const SeriesQuality* find_quality(DeviceIndex i, MetricId metric) const;
  /// Nothing when absent or, for the number, when not a number.
  [[nodiscard]] std::optional<std::string_view> text(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> number_of(std::string_view key) const;
  void set(std::string_view key, std::string value);
  void set(std::string_view key, std::int64_t value);
  [[nodiscard]] Where where() const;
  [[nodiscard]] bool complete() const;

  /// Begin and end of the job on the samples' clock; the end of an incomplete run is its last sample or mark.
  /// Nothing when the run holds neither.
  struct Extent {
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  [[nodiscard]] std::optional<Extent> extent() const;
};

}  // namespace gradwatt::record
