// The one system call that RAPL by perf needs, behind an interface: tests count energy without hardware or rights.
#pragma once

#include <cstdint>
#include <memory>

#include "gradwatt/core/result.hpp"

namespace gradwatt::rapl {

/// An open event; closed with the object.
class PerfCounter {
 public:
  virtual ~PerfCounter() = default;
  /// The kernel's 64-bit sum since the event was opened, in the event's own scale.
  [[nodiscard]] virtual core::Result<std::uint64_t> read() = 0;
};

class PerfEvents {
 public:
  virtual ~PerfEvents() = default;
  /// Counts for all processes on one CPU. Errors: not_permitted (capability or perf_event_paranoid), not_supported.
  [[nodiscard]] virtual core::Result<std::unique_ptr<PerfCounter>> open(std::uint32_t type, std::uint64_t config,
                                                                        int cpu) = 0;
};

/// perf_event_open of this kernel.
[[nodiscard]] std::shared_ptr<PerfEvents> system_perf_events();

}  // namespace gradwatt::rapl
