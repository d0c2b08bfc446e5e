#include "gradwatt/ingest/kineto/trace.hpp"

#include <algorithm>

namespace gradwatt::ingest::kineto {

void connect_launches(Trace& trace) {
  std::ranges::stable_sort(trace.device, {}, &DeviceEvent::begin_ns);
  std::ranges::stable_sort(trace.host, {}, &HostEvent::begin_ns);
  std::vector<const HostEvent*> calls;
  for (const auto& event : trace.host)
    if (event.role == HostRole::launch && event.detail != 0) calls.push_back(&event);
  const auto correlation = [](const HostEvent* call) { return call->detail; };
  std::ranges::stable_sort(calls, {}, correlation);
  for (auto& event : trace.device) {
    if (event.correlation == 0) continue;
    const auto call = std::ranges::lower_bound(calls, event.correlation, {}, correlation);
    if (call == calls.end() || (*call)->detail != event.correlation) continue;
    event.launch_begin_ns = (*call)->begin_ns;
    event.launch_end_ns = (*call)->end_ns;
    if (event.bytes == kBytesUnknown && event.work != Work::kernel) event.bytes = (*call)->bytes;
  }
}

}  // namespace gradwatt::ingest::kineto
