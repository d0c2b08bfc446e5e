#include "gradwatt/ingest/kineto/collectives.hpp"

namespace gradwatt::ingest::kineto {
namespace {

/// Bytes of the calls of one role; nothing where one of them does not state its size.
std::optional<std::uint64_t> bytes_of_calls(const StepWindow& window, HostRole role) {
  std::optional<std::uint64_t> sum;
  for (const auto& call : window.calls) {
    if (call.role != role) continue;
    if (call.bytes == kBytesUnknown) return std::nullopt;
    sum = sum.value_or(0) + call.bytes;
  }
  return sum;
}

Collectives on_device(const StepWindow& window, const std::vector<KernelTraits>& traits) {
  Collectives all;
  bool sized = true;
  std::uint64_t bytes = 0;
  for (const auto& event : window.work) {
    if (event.work != Work::kernel || !traits[event.name].communicates()) continue;
    ++all.count;
    all.time_ns += static_cast<double>(event.end_ns - event.begin_ns);
    sized = sized && event.size();
    bytes += event.size().value_or(0);
  }
  if (sized && all.count > 0) all.bytes = bytes;
  return all;
}

}  // namespace

Collectives collectives_of(const StepWindow& window, const std::vector<KernelTraits>& traits) {
  auto all = on_device(window, traits);
  if (all.count == 0) {
    for (const auto& call : window.calls) {
      if (call.role != HostRole::collective) continue;
      ++all.count;
      all.time_ns += static_cast<double>(call.end_ns - call.begin_ns);
    }
    all.on_host = all.count > 0;
  }
  if (!all.bytes) all.bytes = bytes_of_calls(window, HostRole::comm_call);
  if (!all.bytes) all.bytes = bytes_of_calls(window, HostRole::collective);
  return all;
}

}  // namespace gradwatt::ingest::kineto
