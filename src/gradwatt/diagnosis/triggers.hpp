// Triggers: cheap looks at a window of a run that say "here is something to look into". A trigger tells what was seen,
// with its figures, never why: that takes a diagnosis, which the next command starts.
//
// Pure functions over a window; the table names each with its threshold and where that comes from. The same functions
// serve the report (the whole run) and the live view (live_window.hpp: the last minutes).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/energy/window.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::diagnosis {

/// Ordered: the report shows the strongest first.
enum class Severity : std::uint8_t { note, warning, alarm };

struct Trigger {
  std::string_view name;  ///< from the table: "busy-low-power"; "trigger.<name>" as an event's kind
  Severity severity = Severity::note;
  std::optional<record::DeviceIndex> device;  ///< the worst one, where it concerns devices
  std::string text;                           ///< "busy 99 %, power 38 % of the limit (8 of 8 GPUs, 41 min of 42 min)"
  std::string next;                           ///< the command that looks closer; the caller appends the run's name
  double value = 0;                           ///< in the table's unit
  double time_share = 0;                      ///< part of the window that it held, 0–1
};

struct TriggerInfo {
  std::string_view name;
  double threshold;
  std::string_view unit;
  std::string_view description;
  std::string_view origin;  ///< of the threshold
  /// Nothing when the window shows nothing of the kind, or lacks the data to see it.
  std::optional<Trigger> (*look)(const record::Run& run, energy::Window window, const TriggerInfo& row);
};
[[nodiscard]] std::span<const TriggerInfo> trigger_table();

/// Strongest first; among equals, what held longer. Empty when nothing was seen.
[[nodiscard]] std::vector<Trigger> evaluate(const record::Run& run, energy::Window window);
/// Over the job's whole extent.
[[nodiscard]] std::vector<Trigger> evaluate(const record::Run& run);

/// The columns that triggers read; add them to what else is loaded.
[[nodiscard]] std::vector<record::MetricId> columns_for_triggers();

}  // namespace gradwatt::diagnosis
