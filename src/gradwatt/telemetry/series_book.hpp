// Keeps the books of one sensor: turns each Reading into rows of the record, with counters guarded, failures counted
// and quality known for every series. No threads, no clock: tested by handing it readings.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/record/sink.hpp"
#include "gradwatt/telemetry/counter_guard.hpp"
#include "gradwatt/telemetry/sensor.hpp"
#include "gradwatt/telemetry/tick_schedule.hpp"

namespace gradwatt::telemetry {

class SeriesBook {
 public:
  /// `indices[i]` is the DeviceIndex of devices()[i]; devices may be added later in the same order.
  void add_device(record::DeviceIndex index, const SensorDevice& device);

  /// Rows and events of one tick.
  struct Outcome {
    std::vector<record::Row> rows;
    std::vector<record::Event> events;
  };
  [[nodiscard]] Outcome enter(const Reading& reading);
  /// Of a reading that is not kept (calibration) only what must not be forgotten: lost series and devices, events.
  [[nodiscard]] Outcome enter_losses(const Reading& reading);

  /// Measured once by calibration; nothing when the value never changed.
  void set_update_period(std::size_t device, record::MetricId metric, core::Duration period);

  /// Quality of every series as of now.
  [[nodiscard]] std::vector<record::SeriesQuality> quality(const TickSchedule& schedule) const;

  /// True when some device has measured power and no energy counter that works: its power must be integrated.
  [[nodiscard]] bool must_integrate() const;

 private:
  /// What each reading touches, packed: after a second of sleep every cache line of it comes from memory.
  struct Hot {
    std::optional<CounterGuard> guard;
    std::uint64_t readings = 0;
    double last = 0;           ///< reading of a gauge
    double squared_steps = 0;  ///< sum over neighbouring readings, for the standard error
    std::uint32_t place = 0;  ///< in Book::series
    bool announced = false;
    bool stuck_said = false;
  };
  struct Series {
    SeriesSpec spec;
    record::SeriesQuality quality;
    bool failure_said = false;
    bool lost = false;
    std::map<std::string, int> events_said;
  };
  struct Book {
    record::DeviceIndex index{};
    record::DeviceKind kind{};
    std::vector<Hot> hot;  ///< by slot of the metric
    std::vector<Series> series;
    std::string label;
    bool lost = false;
    [[nodiscard]] Series* find(record::MetricId metric);
  };
  void enter_notes(const Reading& reading, Outcome& outcome) const;
  void enter_cell(const Reading::Cell& cell, core::Instant when, record::Row& row, Outcome& outcome);
  void enter_counter(Book& book, Hot& hot, record::MetricId metric, std::int64_t stored, core::Instant when, record::Row& row, Outcome& outcome);
  void enter_failure(const Reading::Failure& failure, core::Instant when, Outcome& outcome);
  static void say(const Book& book, Series& series, core::Instant when, const std::string& kind, std::string text,
                  Outcome& outcome);

  std::vector<Book> books_;
};

}  // namespace gradwatt::telemetry
