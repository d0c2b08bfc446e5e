#include "gradwatt/ingest/kineto/launches.hpp"

#include <algorithm>
#include <vector>

namespace gradwatt::ingest::kineto {

std::optional<std::int64_t> median(std::vector<std::int64_t>& values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::optional<Launches> launches_of(std::span<const DeviceEvent> work) {
  std::vector<std::int64_t> launched, begun, returned, delays, queue;
  for (const auto& event : work) {
    if (event.work != Work::kernel || !event.has_launch()) continue;
    launched.push_back(event.launch_begin_ns);
    returned.push_back(event.launch_end_ns);
    begun.push_back(event.begin_ns);
    delays.push_back(std::max<std::int64_t>(0, event.begin_ns - event.launch_begin_ns));
  }
  if (delays.empty()) return std::nullopt;
  std::ranges::sort(launched);
  std::ranges::sort(begun);
  for (const auto moment : returned) {
    const auto before = [&](const std::vector<std::int64_t>& times) {
      return std::ranges::upper_bound(times, moment) - times.begin();
    };
    queue.push_back(before(launched) - before(begun));
  }
  return Launches{static_cast<double>(*median(queue)), *median(delays)};
}

}  // namespace gradwatt::ingest::kineto
