// Keeps a hardware counter honest: wraps, resets, steps back, jumps and failed reads become named events, and only
// believable steps enter the total.
//
// The rule (reference: RAPL and NVML field reports, docs/counters.md): previous p, current c, range R, time since p dt,
// fastest believable rate B:
//   c ≥ p, step ≤ B·dt          -> counted
//   c < p, (R − p) + c ≤ B·dt   -> wrap, counted
//   c < p, p − c ≤ B·dt         -> backward: counts nothing, p stays (a later rise is counted only above p)
//   anything else               -> held back; the next reading decides: near p again = glitch (nothing lost),
//                                  near the held value = reset (the unknown step is not counted)
// A failed read is a gap: the next good reading is compared with the last good one, so nothing is lost.
#pragma once

#include <cstdint>
#include <optional>

#include "gradwatt/core/clock.hpp"

namespace gradwatt::telemetry {

class CounterGuard {
 public:
  /// In the counter's own integer step.
  struct Limits {
    std::optional<double> range;       ///< value at which it wraps
    std::optional<double> max_per_s;   ///< fastest believable rate
    bool always_moves = false;         ///< energy of a powered device: standing still for long is a fault
  };
  enum class Outcome { first, advanced, wrapped, backward, held, glitch, reset, failed, stuck };

  explicit CounterGuard(Limits limits) : limits_(limits) {}

  /// One reading; nothing for a failed one. After `stuck`, `held` or `failed` the total is not a reading of this moment.
  Outcome advance(core::Instant when, std::optional<std::int64_t> raw);
  /// Sum of all believable steps since the first reading.
  [[nodiscard]] std::int64_t total() const { return total_; }

  /// A counter that always moves and has stood still this long is called stuck: many times any known update period.
  static constexpr core::Duration kStuckAfter = std::chrono::seconds(5);
  /// Devices update their counters up to every 100 ms, so a short interval may show more than its own share.
  static constexpr core::Duration kUpdateSlack = std::chrono::milliseconds(250);

 private:
  struct Point {
    core::Instant when;
    std::int64_t raw;
  };
  [[nodiscard]] bool believable(double step, core::Duration dt) const;
  Outcome count(core::Instant when, std::int64_t raw, std::int64_t step, Outcome outcome);
  Outcome compare_with_held(core::Instant when, std::int64_t raw);

  Limits limits_;
  std::optional<Point> last_;      ///< last good reading
  std::optional<Point> held_;      ///< reading that did not fit, waiting for the next one
  core::Instant last_move_{};
  std::int64_t total_ = 0;
};

}  // namespace gradwatt::telemetry
