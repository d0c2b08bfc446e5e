// A clock that tests turn by hand; it may also move by a fixed step at each look, as work that takes time would.
#pragma once

#include "gradwatt/core/clock.hpp"

namespace gradwatt::doubles {

class HandClock final : public core::Clock {
 public:
  [[nodiscard]] core::Instant now() const override { return now_ += step_; }
  [[nodiscard]] core::WallTime wall_now() const override { return core::WallTime{now_.time_since_epoch()}; }
  bool sleep_until(core::Instant deadline, const std::stop_token& /*stop*/) override {
    now_ = deadline;
    return true;
  }
  void advance(core::Duration by) { now_ += by; }
  void step_at_each_look(core::Duration step) { step_ = step; }

 private:
  mutable core::Instant now_{std::chrono::seconds(1000)};
  core::Duration step_{0};
};

}  // namespace gradwatt::doubles
