#include "gradwatt/ingest/kineto/breakdown.hpp"

namespace gradwatt::ingest::kineto {

Activity activity_of(const std::vector<DeviceEvent>& work, const std::vector<KernelTraits>& traits) {
  std::vector<Interval> compute, communication, copies, all;
  for (const auto& event : work) {
    const Interval time{event.begin_ns, event.end_ns};
    all.push_back(time);
    auto& kind = event.work != Work::kernel ? copies : traits[event.name].communicates() ? communication : compute;
    kind.push_back(time);
  }
  return {united(std::move(compute)), united(std::move(communication)), united(std::move(copies)),
          united(std::move(all))};
}

Breakdown break_down(const Activity& activity, const Interval& window) {
  Breakdown parts{.window_ns = window.length()};
  parts.compute_ns = total_ns(activity.compute);
  parts.communication_ns = total_ns(activity.communication);
  parts.communication_exposed_ns = total_ns(without(activity.communication, activity.compute));
  parts.copies_exposed_ns = total_ns(without(without(activity.copies, activity.compute), activity.communication));
  const auto busy = total_ns(activity.busy);
  parts.idle_ns = parts.window_ns - busy;
  parts.non_compute_ns = busy - parts.compute_ns;
  return parts;
}

}  // namespace gradwatt::ingest::kineto
