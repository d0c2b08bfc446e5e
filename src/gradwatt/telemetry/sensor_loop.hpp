// One sensor's life in its own thread; private to this folder.
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
  SensorLoop(std::unique_ptr<Sensor> sensor, core::Clock& clock, JobScope& job, std::shared_ptr<Outlet> outlet,
             const Sampler::Options& options);

  /// Reads until asked to stop, then once more. `on_first` is called after the first reading.
  void run(const std::stop_token& stop, const std::function<void()>& on_first);
  /// One reading now, entered in the books.
  void tick();

  [[nodiscard]] std::string_view name() const { return name_; }
  /// How long the driver call of this moment has taken; zero between calls.
  [[nodiscard]] core::Duration in_call(core::Instant now) const;
  /// The record closes this sensor's series: its call hangs.
  void abandon() { abandoned_ = true; }
  [[nodiscard]] bool abandoned() const { return abandoned_; }

  struct Stats {
    std::uint64_t ticks = 0, late = 0, missed = 0;
    core::Duration cpu{0};
  };
  [[nodiscard]] Stats stats() const;

 private:
  void register_new_devices();
  void follow_job();
  [[nodiscard]] Reading read();
  bool still_calibrating();
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
  core::Instant quality_due_{};
  std::optional<UpdateWatch> watch_;  ///< while calibrating
  core::Instant calibrated_at_{};
  std::atomic<std::int64_t> call_since_ns_{0};  ///< 0: not in a call
  std::atomic<bool> abandoned_{false};
  mutable std::mutex stats_mutex_;  // guards stats_
  Stats stats_;
};

}  // namespace gradwatt::telemetry
