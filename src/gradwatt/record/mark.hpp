// What the job said about itself: steps, epochs and regions with their phases.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gradwatt::record {

enum class MarkKind : std::uint8_t { step, epoch, region };
[[nodiscard]] std::string_view name_of(MarkKind kind);
[[nodiscard]] std::optional<MarkKind> mark_kind(std::string_view name);

/// Parts of a step. The names are columns of the `mark` table: data_wait_ns, forward_ns, …
enum class Phase : std::uint8_t { data_wait, forward, backward, comm_exposed, optimizer, checkpoint, evaluation, other };
inline constexpr std::size_t kPhases = 8;
[[nodiscard]] std::string_view name_of(Phase phase);

/// Whose clock a phase time was taken with.
enum class PhaseClock : std::uint8_t {
  host,           ///< host time around an asynchronous call: work may run on after it
  device_events,  ///< events on the device's stream, read later
};

struct Mark {
  std::int32_t rank = 0;
  MarkKind kind = MarkKind::step;
  std::string name;            ///< of a region; empty for steps and epochs
  std::int64_t number = 0;     ///< step or epoch, counted from 0 by each rank
  std::int64_t begin_ns = 0;   ///< same clock as the samples
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> samples;  ///< training samples of this rank in it
  std::array<std::optional<std::int64_t>, kPhases> phase_ns{};
  PhaseClock clock = PhaseClock::host;
};

/// Something that happened at one moment: throttling, a lost sensor, a clock jump, a trigger.
struct Event {
  std::int64_t time_ns = 0;
  std::optional<std::uint32_t> device;  ///< DeviceIndex, where it concerns one
  std::string kind;                     ///< dotted: "sensor.lost", "counter.wrap", "trigger.busy-low-power"
  std::string text;                     ///< one sentence with its figures
};

/// A piece of a trace: summarised, at most a million a rank.
struct Span {
  std::int32_t rank = 0;
  std::string track;  ///< host thread, stream or collective
  std::string kind;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::optional<std::int64_t> bytes;
};

}  // namespace gradwatt::record
