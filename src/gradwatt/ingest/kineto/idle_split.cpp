#include "gradwatt/ingest/kineto/idle_split.hpp"

#include <algorithm>

namespace gradwatt::ingest::kineto {

IdleSplit split_idle(std::span<const DeviceEvent> work, const Interval& window, std::int64_t gap_ns) {
  IdleSplit split;
  auto busy_until = window.begin_ns;
  for (const auto& next : work) {
    const auto gap = next.begin_ns - busy_until;
    if (gap > 0) {
      auto& part = next.has_launch() && next.launch_begin_ns > busy_until ? split.host_wait_ns
                   : gap < gap_ns                                         ? split.kernel_wait_ns
                                                                          : split.other_ns;
      part += gap;
    }
    busy_until = std::max(busy_until, next.end_ns);
  }
  split.host_wait_ns += std::max<std::int64_t>(0, window.end_ns - busy_until);
  return split;
}

}  // namespace gradwatt::ingest::kineto
