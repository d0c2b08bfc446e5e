// How the device's time divides: computing, communicating, copying, nothing; and how much of the communication and the
// copies no computing hides. Definitions of Holistic Trace Analysis (hta/analyzers/breakdown_analysis.py,
// communication_analysis.py): each kind is the union over all streams.
#pragma once

#include <vector>

#include "gradwatt/ingest/kineto/kernel_class.hpp"
#include "gradwatt/ingest/kineto/step_window.hpp"

namespace gradwatt::ingest::kineto {

struct Activity {
  Intervals compute, communication, copies;  ///< copies: memory sets as well
  Intervals busy;                            ///< any of them
};
[[nodiscard]] Activity activity_of(const std::vector<DeviceEvent>& work, const std::vector<KernelTraits>& traits);

struct Breakdown {
  std::int64_t window_ns = 0;
  std::int64_t compute_ns = 0;      ///< some kernel computes
  std::int64_t non_compute_ns = 0;  ///< only copies or communication
  std::int64_t idle_ns = 0;         ///< none of both
  std::int64_t communication_ns = 0;
  std::int64_t communication_exposed_ns = 0;  ///< communication, and nothing computes
  std::int64_t copies_exposed_ns = 0;         ///< copies, and no kernel at all
  [[nodiscard]] double share(std::int64_t part_ns) const {
    return window_ns > 0 ? static_cast<double>(part_ns) / static_cast<double>(window_ns) : 0;
  }
};
[[nodiscard]] Breakdown break_down(const Activity& activity, const Interval& window);

}  // namespace gradwatt::ingest::kineto
