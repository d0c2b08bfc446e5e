// Why nothing ran on the device: the host had not launched anything (host wait), or the next kernel was queued and the
// gap is the device's own (kernel wait), or neither (other: the queue waits for another stream or an event).
// Definitions of Holistic Trace Analysis (hta/analyzers/breakdown_analysis.py).
#pragma once

#include <cstdint>
#include <span>

#include "gradwatt/ingest/kineto/intervals.hpp"
#include "gradwatt/ingest/kineto/trace.hpp"

namespace gradwatt::ingest::kineto {

/// HTA's default threshold is "30 ns", but it compares it with the trace's microseconds: 30 µs is what it does, and
/// what gaps between queued kernels are (1 to 10 µs on the GPUs of the traces seen).
inline constexpr std::int64_t kConsecutiveKernelGapNs = 30'000;

struct IdleSplit {
  std::int64_t host_wait_ns = 0, kernel_wait_ns = 0, other_ns = 0;
  [[nodiscard]] std::int64_t total() const { return host_wait_ns + kernel_wait_ns + other_ns; }
};

/// Of the gaps in `work`, sorted by begin, inside the window: of one stream and from its first to its last work for
/// HTA's figures, of all streams for the time in which the whole device idles. What follows the last work is host wait.
[[nodiscard]] IdleSplit split_idle(std::span<const DeviceEvent> work, const Interval& window,
                                   std::int64_t gap_ns = kConsecutiveKernelGapNs);

}  // namespace gradwatt::ingest::kineto
