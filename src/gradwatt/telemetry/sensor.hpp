// What a backend implements: a Backend says what can be measured here and opens Sensors; a Sensor reads its devices
// at each tick. Reading only: actuators are another interface (control/).
//
// A new source is one folder in backends/ and one line in apps/gradwatt/wiring.cpp.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/record/run.hpp"
#include "gradwatt/telemetry/job_scope.hpp"

namespace gradwatt::telemetry {

/// One series that a sensor will deliver.
struct SeriesSpec {
  record::MetricId metric{};
  record::How how = record::How::counter;  ///< counter for counters, integrated for measured gauges, modelled for models
  record::Where where = record::Where::live;  ///< replayed: served from a record
  std::string scope;                       ///< what it covers: "gpu", "module", "package", "process tree"
  std::string source;                      ///< "nvml field 186", "perf power/energy-pkg"
  core::Duration cadence{0};               ///< 0: due every tick; else the sensor itself reads it less often
  std::optional<double> counter_range;     ///< value at which a counter wraps, in the metric's unit; nothing: unknown
  std::optional<double> max_rate;          ///< a faster counter is a glitch, unit per second: 1.5 × the power limit
  std::optional<double> duty;              ///< share of time that a power reading sees
  std::optional<double> uncertainty;       ///< relative, of the source itself
  std::optional<double> range_low, range_high;  ///< of a model: factors on the value
  std::string note;
};

struct SensorDevice {
  record::Device device;
  std::vector<SeriesSpec> series;
};

/// What one tick of one sensor brought. Devices are numbered as in Sensor::devices().
class Reading {
 public:
  struct Cell {
    std::size_t device;
    record::MetricId metric;
    std::int64_t stored;  ///< in the metric's step; kMissing: the reading failed
  };
  struct Failure {
    std::size_t device;
    std::optional<record::MetricId> metric;  ///< nothing: the whole device
    std::string reason;
    bool lost;  ///< for the rest of the run
  };

  explicit Reading(core::Instant begin) : begin_(begin) {}

  /// `value` in the metric's unit (W, J, %, MHz, bytes).
  void set(std::size_t device, record::MetricId metric, double value) {
    set_stored(device, metric, std::llround(value / record::info(metric).step));
  }
  /// `stored` already in the metric's step: exact for counters.
  void set_stored(std::size_t device, record::MetricId metric, std::int64_t stored) {
    cells_.push_back({device, metric, stored});
  }
  /// A reading that was due and failed: a gap and a counted failure, never a zero. The sampler tries again next tick.
  void fail(std::size_t device, record::MetricId metric, std::string reason) {
    cells_.push_back({device, metric, record::kMissing});
    failures_.push_back({device, metric, std::move(reason), false});
  }
  /// The series (or, without a metric, the device) is gone for the rest of the run; the sensor will not set it again.
  void lose(std::size_t device, std::optional<record::MetricId> metric, std::string reason) {
    failures_.push_back({device, metric, std::move(reason), true});
  }
  /// When the device's values were taken, if not at the begin of the tick.
  void stamp(std::size_t device, core::Instant when) { stamps_.emplace_back(device, when); }
  void event(std::optional<std::size_t> device, std::string kind, std::string text) {
    events_.push_back({device, std::move(kind), std::move(text)});
  }

  struct Note {
    std::optional<std::size_t> device;
    std::string kind, text;
  };
  [[nodiscard]] core::Instant begin() const { return begin_; }
  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  [[nodiscard]] const std::vector<Failure>& failures() const { return failures_; }
  [[nodiscard]] const std::vector<std::pair<std::size_t, core::Instant>>& stamps() const { return stamps_; }
  [[nodiscard]] const std::vector<Note>& events() const { return events_; }

 private:
  core::Instant begin_;
  std::vector<Cell> cells_;
  std::vector<Failure> failures_;
  std::vector<std::pair<std::size_t, core::Instant>> stamps_;
  std::vector<Note> events_;
};

/// Used from one thread at a time, not always the one that opened it. A call that hangs costs only this sensor.
class Sensor {
 public:
  virtual ~Sensor() = default;
  /// "nvml", "rapl": stable, for logs and settings.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Devices and their series; may grow at the end after follow() returned true, never shrink or reorder.
  [[nodiscard]] virtual std::vector<SensorDevice> devices() const = 0;
  /// The job changed (see JobScope); true when devices() grew.
  virtual bool follow(const JobScope::Snapshot& /*job*/) { return false; }
  /// One reading of all that is due. Must not sleep.
  virtual void read(Reading& reading) = 0;
  /// Work that the last reading left because it is long (a list of a thousand processes): it goes on after this pause,
  /// between the ticks. Nothing: none is left.
  [[nodiscard]] virtual std::optional<core::Duration> backlog() const { return std::nullopt; }
  /// One piece of it, at most a millisecond. It also follows the reading at the end of the run, so that a short job is
  /// not missed.
  virtual void catch_up() {}
  /// False: it reads only files that the kernel keeps in memory, and may share a thread with others of the kind.
  [[nodiscard]] virtual bool may_block() const { return true; }
  /// Static facts of devices and node: asked once a run, and on demand. May be slow; not called in the sampling loop.
  [[nodiscard]] virtual std::vector<record::Fact> facts() { return {}; }
};

/// A line of `doctor`: one source on this machine.
struct SourceStatus {
  std::string source;    ///< "NVML", "RAPL by perf events"
  std::string supplies;  ///< "GPU energy (counter), power, clocks, …": what it gives or would give
  bool usable = false;
  std::string detail;  ///< usable: what was found ("8 × NVIDIA H100, driver 550.54"); else the reason
  std::string remedy;  ///< the one line that mends it; empty where nothing does or nothing is needed
};

struct OpenContext {
  const core::Clock& clock;
  const JobScope::Snapshot& job;
  core::Duration interval;
  /// Kinds of which a stronger source opened before already measures power or energy; a model fills only the others.
  std::vector<record::DeviceKind> covered;
};

class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// What is here, without starting anything that stays: for doctor. Never throws, never hangs for long.
  [[nodiscard]] virtual std::vector<SourceStatus> probe() = 0;
  /// Empty when this machine has no such source (the reason is in probe()). An error is one that the user should read.
  [[nodiscard]] virtual core::Result<std::vector<std::unique_ptr<Sensor>>> open(const OpenContext& context) = 0;
};

}  // namespace gradwatt::telemetry
