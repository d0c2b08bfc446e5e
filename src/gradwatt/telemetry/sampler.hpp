// Runs the sensors: opens backends beside the job, reads each sensor in its own thread on absolute deadlines, and hands
// rows to the record. A call that hangs costs its own sensor only; the job is never waited for and never delayed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/record/sink.hpp"
#include "gradwatt/telemetry/job_scope.hpp"
#include "gradwatt/telemetry/live.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::telemetry {

class Sampler {
 public:
  struct Options {
    core::Duration interval = std::chrono::seconds(1);
    std::uint64_t seed = 0;                               ///< of the random instants
    core::Duration hang_limit = std::chrono::seconds(5);  ///< a call that takes longer costs its sensor
    bool calibrate = true;
    bool live = true;  ///< keep the live board; without it live() stays empty
    std::string host;
  };
  /// Backends of one group are opened one after the other, stronger sources first, because a model fills only what they
  /// leave open; groups are opened side by side.
  using Group = std::vector<std::unique_ptr<Backend>>;

  /// `clock`, `sink` and `job` must live until stop() has returned.
  Sampler(core::Clock& clock, record::Sink& sink, JobScope& job, Options options);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Returns at once; sources count from their first reading.
  void start(std::vector<Group> groups);
  /// Waits until every source has been opened (or refused) and read once; false when `patience` ends first.
  bool wait_for_first_readings(core::Duration patience);
  /// Call now and then (every second): gives up sensors whose call hangs.
  void watch();
  /// A last reading of each sensor, then the end. A hanging one is left behind after `patience`.
  void stop(core::Duration patience);

  /// After stop(): some thread still hangs in a driver. The process should end without waiting for it.
  [[nodiscard]] bool left_behind() const;

  [[nodiscard]] const LiveBoard& live() const;

  struct Stats {
    std::uint64_t ticks = 0;            ///< readings of sensors
    std::uint64_t late_ticks = 0;       ///< begun more than a tenth of the period late
    std::uint64_t missed_ticks = 0;     ///< periods without a reading
    std::vector<std::string> problems;  ///< one sentence each: sources that could not be opened, were lost or hang
  };
  [[nodiscard]] Stats stats() const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace gradwatt::telemetry
