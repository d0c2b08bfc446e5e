// How far the host runs ahead of the device. A queue near empty means that the device waits for launches.
#pragma once

#include <optional>
#include <span>

#include "gradwatt/ingest/kineto/trace.hpp"

namespace gradwatt::ingest::kineto {

struct Launches {
  double queue_median = 0;           ///< kernels launched and not yet begun, when a launching call returns
  std::int64_t delay_median_ns = 0;  ///< from the begin of the launching call to the begin of its kernel
};

/// Nothing where no kernel's launch is in the trace.
[[nodiscard]] std::optional<Launches> launches_of(std::span<const DeviceEvent> work);

/// The middle one of the values, which are put in another order; nothing of none.
[[nodiscard]] std::optional<std::int64_t> median(std::vector<std::int64_t>& values);

}  // namespace gradwatt::ingest::kineto
