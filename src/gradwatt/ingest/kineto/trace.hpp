// A PyTorch profiler trace (Kineto) as compact rows: what the facts are computed from.
//
// Only rows that some fact needs are kept: all work of the devices, and of the host the profiler's steps, waits in the
// data loader, collectives, calls that launch, wait or allocate, and operators whose shapes decide which kernels run.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/ingest/kineto/name_table.hpp"

namespace gradwatt::ingest::kineto {

using Nanoseconds = std::int64_t;

/// Bytes that the trace does not state.
inline constexpr auto kBytesUnknown = std::numeric_limits<std::uint64_t>::max();
/// A launch that the trace does not hold.
inline constexpr auto kLaunchUnknown = std::numeric_limits<Nanoseconds>::min();

enum class Work : std::uint8_t { kernel, copy, set };

/// A kernel, copy or memory set on a device.
struct DeviceEvent {
  Nanoseconds begin_ns = 0, end_ns = 0;
  Nanoseconds launch_begin_ns = kLaunchUnknown, launch_end_ns = kLaunchUnknown;  ///< the host call that queued it
  std::uint64_t bytes = kBytesUnknown;  ///< of a copy, or that a collective took from this rank
  NameId name = 0;
  std::uint32_t correlation = 0;  ///< shared with the launching call; 0: none
  NameId track = 0;               ///< device and stream
  Work work = Work::kernel;

  [[nodiscard]] bool has_launch() const { return launch_begin_ns != kLaunchUnknown; }
  [[nodiscard]] std::optional<std::uint64_t> size() const {
    return bytes != kBytesUnknown ? std::optional(bytes) : std::nullopt;
  }
};

enum class HostRole : std::uint8_t {
  none,        ///< no fact needs it
  step,        ///< ProfilerStep#n
  loader,      ///< enumerate(DataLoader)#….__next__: the training thread asks for a batch
  collective,  ///< nccl:all_reduce, gloo:broadcast: the range around a call of a collective
  comm_call,   ///< record_param_comms: the same call with its sizes
  launch,      ///< a runtime call that queues work on a device
  wait,        ///< a runtime call that waits for a device
  allocate,    ///< a runtime call that allocates or frees device memory
  shaped,      ///< an operator of which the shapes are kept
};

struct HostEvent {
  Nanoseconds begin_ns = 0, end_ns = 0;
  std::uint64_t bytes = kBytesUnknown;  ///< of a collective
  NameId name = 0;
  std::uint32_t detail = 0;  ///< correlation of a runtime call; hash of a shaped operator's input shapes
  NameId thread = 0;
  HostRole role = HostRole::none;
};

struct Trace {
  std::vector<DeviceEvent> device;
  std::vector<HostEvent> host;
  NameTable kernels;  ///< DeviceEvent::name
  NameTable calls;    ///< HostEvent::name
  NameTable tracks;   ///< DeviceEvent::track: "GPU 0 stream 7"
  NameTable threads;  ///< HostEvent::thread: the thread's number as the trace writes it

  // Of the whole file.
  std::optional<Nanoseconds> first_ns, last_ns;  ///< over all events with a duration, also those not kept
  std::uint64_t events = 0;                      ///< with a duration
  std::uint64_t unreadable = 0;                  ///< events that are no JSON, or whose times are no times
  bool complete = true;                          ///< the text did not break off
  std::vector<std::string> device_models;        ///< by device number
  std::optional<std::int64_t> rank, world_size;
  std::string backend, nccl_version;
  std::optional<Nanoseconds> base_ns;  ///< wall time of the trace's zero; nothing: its times are wall times already
};

/// Devices' events in order of their begin, with the launching calls of the same correlation.
void connect_launches(Trace& trace);

}  // namespace gradwatt::ingest::kineto
