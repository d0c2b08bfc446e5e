#include "gradwatt/ingest/kineto/step_window.hpp"

#include <algorithm>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::ingest::kineto {
namespace {

/// A last step shorter than this part of the others' median is the rest between the last prof.step() and the
/// profiler's stop: 0.5 % of a step in traces seen, where real steps of one job stay within a factor of three.
constexpr double kStepRemnant = 0.1;

std::vector<Step> all_steps(const Trace& trace, std::optional<NameId>& thread) {
  std::vector<Step> steps;
  for (const auto& event : trace.host) {
    if (event.role != HostRole::step) continue;
    if (!steps.empty() && event.begin_ns < steps.back().time.end_ns) continue;  // steps never lie in each other
    const auto& name = trace.calls.text(event.name);
    const auto number = core::parse_int(name.substr(name.find('#') + 1));
    steps.push_back({number.value_or(static_cast<std::int64_t>(steps.size())), {event.begin_ns, event.end_ns}});
    thread = event.thread;
  }
  return steps;
}

bool ends_with_remnant(const std::vector<Step>& steps) {
  if (steps.size() < 2) return false;
  std::vector<std::int64_t> others;
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) others.push_back(steps[i].time.length());
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::ranges::nth_element(others, middle);
  return static_cast<double>(steps.back().time.length()) < kStepRemnant * static_cast<double>(*middle);
}

Interval extent_of(const std::vector<DeviceEvent>& work) {
  if (work.empty()) return {};
  Interval extent{work.front().begin_ns, work.front().end_ns};
  for (const auto& event : work) extent.end_ns = std::max(extent.end_ns, event.end_ns);
  return extent;
}

bool launched_in(const DeviceEvent& event, const Interval& time) {
  const auto moment = event.has_launch() ? event.launch_begin_ns : event.begin_ns;
  return moment >= time.begin_ns && moment < time.end_ns;
}

/// The host's window, begun later by as much as the device lags behind at its end (its queue was as full before the
/// first step then), but never later than the first work; and prolonged to the end of the work. Clocks of host and
/// device differ by some microseconds, so work may seem to begin before its launch.
Interval device_window(const Interval& host, const std::vector<DeviceEvent>& work) {
  const auto extent = extent_of(work);
  const auto lag = std::max<std::int64_t>(0, extent.end_ns - host.end_ns);
  return {std::min(host.begin_ns + lag, extent.begin_ns), std::max(host.end_ns, extent.end_ns)};
}

template <class Condition>
void take_work(StepWindow& window, const Trace& trace, Condition condition) {
  std::ranges::copy_if(trace.device, std::back_inserter(window.work), condition);
}

void take_all_but_last(StepWindow& window, const Trace& trace) {
  const auto end = window.steps.back().time.begin_ns;
  window.host = {window.steps.front().time.begin_ns, end};
  window.steps.pop_back();
  take_work(window, trace, [&](const DeviceEvent& event) { return event.has_launch() && event.launch_begin_ns < end; });
  window.device = extent_of(window.work);
}

void take_whole_steps(StepWindow& window, const Trace& trace) {
  if (ends_with_remnant(window.steps)) window.steps.pop_back(), ++window.cut_steps;
  window.host = {window.steps.front().time.begin_ns, window.steps.back().time.end_ns};
  take_work(window, trace, [&](const DeviceEvent& event) { return launched_in(event, window.host); });
  if (!window.work.empty()) window.device = device_window(window.host, window.work);
}

void take_everything(StepWindow& window, const Trace& trace) {
  window.host = {trace.first_ns.value_or(0), trace.last_ns.value_or(0)};
  window.work = trace.device;
  window.device = extent_of(window.work);
}

}  // namespace

StepWindow select_window(const Trace& trace, WindowRule rule) {
  StepWindow window;
  window.steps = all_steps(trace, window.main_thread);
  if (window.steps.empty()) {
    take_everything(window, trace);
  } else if (rule == WindowRule::without_last_step && window.steps.size() > 1) {
    take_all_but_last(window, trace);
  } else {
    take_whole_steps(window, trace);
  }
  std::ranges::copy_if(trace.host, std::back_inserter(window.calls), [&](const HostEvent& event) {
    return event.begin_ns >= window.host.begin_ns && event.begin_ns < window.host.end_ns;
  });
  return window;
}

}  // namespace gradwatt::ingest::kineto
