// One sensor's life in a thread, its own or one shared with others that cannot block; private to this folder.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>

#include "gradwatt/telemetry/calibration.hpp"
#include "gradwatt/telemetry/sampler.hpp"
#include "gradwatt/telemetry/series_book.hpp"

namespace gradwatt::telemetry {

/// Where the loops of a sampler put what they read. After close() nothing passes: a thread that comes back late from a
/// driver finds the door shut instead of objects that are gone.
class Outlet {
 public:
  /// `live` may be null.
  Outlet(record::Sink& sink, LiveBoard* live, std::string host) : sink_(&sink), live_(live), host_(std::move(host)) {}

  /// Gives the device its index in the record.
  record::DeviceIndex add_device(record::Device device);
  void put(SeriesBook::Outcome outcome);
  void put(const std::vector<record::SeriesQuality>& quality);
  void put(record::Fact fact);
  void put(record::Event event);
  void close();

 private:
  std::mutex mutex_;  // guards all below
  record::Sink* sink_;
  LiveBoard* live_;
  std::string host_;
  std::uint32_t next_device_ = 0;
};

class SensorLoop {
 public:
  /// `origin`: where the periods of the schedule begin, counted alike for all loops, so that they wake together.
  SensorLoop(std::unique_ptr<Sensor> sensor, core::Clock& clock, JobScope& job, std::shared_ptr<Outlet> outlet,
             const Sampler::Options& options, core::Instant origin);

  /// The first reading.
  void begin();
  /// When there is something to do next.
  [[nodiscard]] core::Instant wake() const;
  /// Does what is due by now.
  void work();
  /// The last reading.
  void end();

  [[nodiscard]] std::string_view name() const { return name_; }
  /// How long the driver call of this moment has taken; zero between calls.
  [[nodiscard]] core::Duration in_call(core::Instant now) const;
  /// The record closes this sensor's series: its call hangs.
  void abandon() { abandoned_ = true; }
  [[nodiscard]] bool abandoned() const { return abandoned_; }

  struct Stats {
    std::uint64_t ticks = 0, late = 0, missed = 0;
  };
  [[nodiscard]] Stats stats() const;

 private:
  /// One reading now, entered in the books.
  void tick();
  void read_on_time();
  void read_to_calibrate();
  void catch_up();
  void plan();
  void register_new_devices();
  void follow_job();
  [[nodiscard]] Reading read();
  void end_calibration_if_due();
  void back_off_if_slow();
  void put_quality();
  void put_facts();

  std::unique_ptr<Sensor> sensor_;
  std::string name_;
  core::Clock& clock_;
  JobScope& job_;
  std::shared_ptr<Outlet> outlet_;
  Sampler::Options options_;
  SeriesBook book_;
  std::size_t devices_known_ = 0;
  std::uint64_t generation_ = 0;
  LatencyBook latency_;
  std::optional<TickSchedule> schedule_;
  core::Instant due_{};                     ///< of the next tick
  std::optional<core::Instant> extra_due_;  ///< of the next reading of the calibration
  std::optional<core::Instant> piece_due_;  ///< of the next piece of the sensor's backlog
  core::Instant quality_due_{};
  std::optional<UpdateWatch> watch_;  ///< while calibrating
  core::Instant calibrated_at_{};
  std::atomic<std::int64_t> call_since_ns_{0};  ///< 0: not in a call
  std::atomic<bool> abandoned_{false};
  mutable std::mutex stats_mutex_;  // guards stats_
  Stats stats_;
};

/// The work of a thread: begins all, does what is due until asked to stop, and ends all. `on_first` is called once for
/// each, after its first reading.
void run_loops(const std::vector<std::shared_ptr<SensorLoop>>& loops, core::Clock& clock, const std::stop_token& stop,
               const std::function<void()>& on_first);

}  // namespace gradwatt::telemetry
