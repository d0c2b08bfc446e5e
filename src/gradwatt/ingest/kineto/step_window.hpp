// Which part of a trace the figures rest on: the profiler's whole steps, or all of it where it has none.
#pragma once

#include <vector>

#include "gradwatt/ingest/kineto/intervals.hpp"
#include "gradwatt/ingest/kineto/trace.hpp"

namespace gradwatt::ingest::kineto {

enum class WindowRule {
  whole_steps,  ///< all whole steps
  /// As Holistic Trace Analysis does by default (hta/common/trace.py): work that was launched before the last step
  /// began; its time runs from the first such work to the end of the last. For comparison with its figures.
  without_last_step,
};

struct Step {
  std::int64_t number = 0;  ///< the profiler's
  Interval time;            ///< on the host
};

struct StepWindow {
  std::vector<Step> steps;    ///< in order of time; empty: the trace has none and the window is all of it
  std::size_t cut_steps = 0;  ///< steps at the end that the profiler stopped in
  Interval host;
  /// Devices lag behind the host: their part of the same steps.
  Interval device;
  std::vector<DeviceEvent> work;      ///< launched in these steps, by begin
  std::vector<HostEvent> calls;       ///< begun in the host's window, by begin
  std::optional<NameId> main_thread;  ///< the one that steps

  [[nodiscard]] bool has_device() const { return !work.empty(); }
};

/// `trace` with its launches connected.
[[nodiscard]] StepWindow select_window(const Trace& trace, WindowRule rule = WindowRule::whole_steps);

}  // namespace gradwatt::ingest::kineto
