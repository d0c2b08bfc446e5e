#include "gradwatt/ingest/kineto/host_time.hpp"

#include <algorithm>
#include <map>

namespace gradwatt::ingest::kineto {
namespace {

/// Clipped to the window.
Intervals times_of(const StepWindow& window, HostRole role, std::optional<NameId> thread) {
  std::vector<Interval> times;
  for (const auto& call : window.calls)
    if (call.role == role && (!thread || call.thread == *thread))
      times.push_back({call.begin_ns, std::min(call.end_ns, window.host.end_ns)});
  return united(std::move(times));
}

bool is_wait_for_batch(const HostEvent& call, const StepWindow& window) {
  return call.role == HostRole::loader && (!window.main_thread || call.thread == *window.main_thread);
}

/// What one operator was called with in one step: the order of the calls does not matter.
struct Shapes {
  std::uint64_t calls = 0, sum = 0;
  friend bool operator==(const Shapes&, const Shapes&) = default;
};

}  // namespace

std::optional<Intervals> loader_waits(const StepWindow& window) {
  const bool any =
      std::ranges::any_of(window.calls, [&](const HostEvent& call) { return is_wait_for_batch(call, window); });
  if (!any) return std::nullopt;
  return times_of(window, HostRole::loader, window.main_thread);
}

bool loads_without_workers(const StepWindow& window, const NameTable& calls) {
  bool any = false;
  for (const auto& call : window.calls) {
    if (!is_wait_for_batch(call, window)) continue;
    if (calls.text(call.name).find("_SingleProcessDataLoaderIter") == std::string::npos) return false;
    any = true;
  }
  return any;
}

DeviceWaits device_waits(const StepWindow& window) {
  DeviceWaits waits{.time = times_of(window, HostRole::wait, std::nullopt)};
  waits.calls = static_cast<std::uint64_t>(std::ranges::count(window.calls, HostRole::wait, &HostEvent::role));
  return waits;
}

std::uint64_t allocations(const StepWindow& window) {
  return static_cast<std::uint64_t>(std::ranges::count(window.calls, HostRole::allocate, &HostEvent::role));
}

std::optional<bool> shapes_vary(const StepWindow& window) {
  std::map<NameId, std::vector<Shapes>> operators;  // by step
  std::size_t step = 0;
  bool any = false;
  for (const auto& call : window.calls) {
    if (call.role != HostRole::shaped || call.detail == 0) continue;
    while (step < window.steps.size() && call.begin_ns >= window.steps[step].time.end_ns) ++step;
    if (step >= window.steps.size()) break;
    if (call.begin_ns < window.steps[step].time.begin_ns) continue;
    auto& steps = operators.try_emplace(call.name, window.steps.size()).first->second;
    ++steps[step].calls;
    steps[step].sum += call.detail;
    any = true;
  }
  if (!any || window.steps.size() < 2) return std::nullopt;
  for (const auto& [name, steps] : operators)
    for (const auto& other : steps)
      if (other.calls == steps.front().calls && other != steps.front()) return true;
  return false;
}

}  // namespace gradwatt::ingest::kineto
