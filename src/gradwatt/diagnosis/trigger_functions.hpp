// The functions behind the trigger table, one a row. Private to this folder.
#pragma once

#include "gradwatt/diagnosis/triggers.hpp"

namespace gradwatt::diagnosis {

using Look = std::optional<Trigger>(const record::Run&, energy::Window, const TriggerInfo&);

// gpu_triggers.cpp
Look look_busy_low_power, look_held_thermal, look_held_power_brake, look_gpu_idle, look_limit_lowered;
// job_triggers.cpp
Look look_input_wait, look_memory_pressure, look_io_pressure, look_rank_skew;

[[nodiscard]] std::vector<record::MetricId> columns_for_gpu_triggers();
[[nodiscard]] std::vector<record::MetricId> columns_for_job_triggers();

/// A trigger of the row with everything but its figures.
[[nodiscard]] inline Trigger begin_trigger(const TriggerInfo& row, Severity severity) {
  return {.name = row.name, .severity = severity, .next = "gradwatt diagnose"};
}

}  // namespace gradwatt::diagnosis
