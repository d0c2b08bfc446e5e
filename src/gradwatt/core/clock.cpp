#include "gradwatt/core/clock.hpp"

namespace gradwatt::core {

Instant SystemClock::now() const { return std::chrono::steady_clock::now(); }

WallTime SystemClock::wall_now() const { return std::chrono::system_clock::now(); }

bool SystemClock::sleep_until(Instant deadline, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_until(lock, stop, deadline, [] { return false; });
  return !stop.stop_requested();
}

ClockAnchor anchor_now(const Clock& clock) {
  // The wall reading sits between two monotonic ones; of a few tries the tightest is kept.
  ClockAnchor best{};
  Duration narrowest = Duration::max();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const Instant before = clock.now();
    const WallTime wall = clock.wall_now();
    const Instant after = clock.now();
    if (after - before < narrowest) {
      narrowest = after - before;
      best = {before + (after - before) / 2, wall};
    }
  }
  return best;
}

}  // namespace gradwatt::core
