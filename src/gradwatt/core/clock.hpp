// Time as a parameter: everything that waits or stamps takes a Clock, so that tests turn it by hand.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace gradwatt::core {

using Duration = std::chrono::nanoseconds;
/// A moment of CLOCK_MONOTONIC. All samples, marks and events of a live run carry it.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;
/// A moment of the wall clock (UTC).
using WallTime = std::chrono::sys_time<Duration>;

/// The two clocks read at one moment: turns every Instant of a run into a wall time.
struct ClockAnchor {
  Instant monotonic;
  WallTime wall;
  [[nodiscard]] WallTime to_wall(Instant t) const { return wall + (t - monotonic); }
};

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Instant now() const = 0;
  [[nodiscard]] virtual WallTime wall_now() const = 0;
  /// Waits until `deadline` or until `stop` is requested; true when the deadline was reached.
  virtual bool sleep_until(Instant deadline, const std::stop_token& stop) = 0;
};

/// The real clocks of this host. Each sleeping thread wakes on its own stop token.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override;
  [[nodiscard]] WallTime wall_now() const override;
  bool sleep_until(Instant deadline, const std::stop_token& stop) override;
};

/// Reads both clocks as close together as can be.
[[nodiscard]] ClockAnchor anchor_now(const Clock& clock);

/// An Instant as the int64 nanoseconds that files store, and back.
[[nodiscard]] constexpr std::int64_t to_ns(Instant t) { return t.time_since_epoch().count(); }
[[nodiscard]] constexpr Instant from_ns(std::int64_t ns) { return Instant{Duration{ns}}; }

}  // namespace gradwatt::core
