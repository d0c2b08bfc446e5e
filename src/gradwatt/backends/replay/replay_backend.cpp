#include "gradwatt/backends/replay/replay_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "gradwatt/core/text.hpp"
#include "gradwatt/record/store.hpp"

namespace gradwatt::replay {
namespace {

using record::kMissing;
using record::Run;
using telemetry::Reading;

/// A value stands for this many of its own periods; older is a reading that failed.
constexpr std::int64_t kStandsForPeriods = 2;

struct Played {
  const record::Column* column;
  std::int64_t period_ns;           // 0: unknown, a value stands until the next row
  std::optional<std::size_t> last;  // newest row up to the cursor with a value
};

/// One device's samples and how far the replay has come.
class PlayedDevice {
 public:
  PlayedDevice(const Run& run, const record::DeviceSeries& series) : series_(&series) {
    for (const auto& column : series.columns) {
      const auto* quality = run.find_quality(series.device, column.metric);
      columns_.push_back({&column, quality != nullptr ? quality->cadence_ns : 0, {}});
    }
  }

  /// Goes on to the last row at or before `t_ns`; false before the first.
  bool advance(std::int64_t t_ns) {
    for (; next_ < series_->size() && series_->time_ns[next_] <= t_ns; ++next_)
      for (auto& played : columns_)
        if (played.column->has(next_)) played.last = next_;
    return next_ > 0;
  }
  [[nodiscard]] bool ended(std::int64_t t_ns) const { return t_ns >= series_->time_ns.back(); }

  void put(std::size_t device, Reading& reading) const {
    const auto row = next_ - 1;
    for (const auto& played : columns_) {
      if (!played.last) continue;  // not yet due for the first time
      const auto age = series_->time_ns[row] - series_->time_ns[*played.last];
      const auto& column = *played.column;
      if (*played.last != row && age / kStandsForPeriods >= played.period_ns) {
        reading.fail(device, column.metric, "the recording has no reading here");
        continue;
      }
      const bool raw = !column.raw.empty() && column.raw[*played.last] != kMissing;
      reading.set_stored(device, column.metric, raw ? column.raw[*played.last] : column.values[*played.last]);
    }
  }

  bool final_read = false;
  bool lost = false;

 private:
  const record::DeviceSeries* series_;
  std::vector<Played> columns_;
  std::size_t next_ = 0;  // rows before it have been reached
};

telemetry::SensorDevice describe(const Run& run, const record::DeviceSeries& series, const std::string& source,
                                 core::Duration interval) {
  telemetry::SensorDevice described{run.device(series.device), {}};
  for (const auto& column : series.columns) {
    telemetry::SeriesSpec spec{.metric = column.metric};
    const bool gauge = record::info(column.metric).type == record::MetricType::gauge;
    spec.how = gauge ? record::How::integrated : record::How::counter;
    spec.where = record::Where::replayed;
    spec.source = fmt::format("replay of {}", source);
    if (const auto* quality = run.find_quality(series.device, column.metric)) {
      spec.how = quality->how;
      spec.scope = quality->scope;
      if (!quality->source.empty()) spec.source += ": " + quality->source;
      if (quality->cadence_ns > interval.count()) spec.cadence = core::Duration(quality->cadence_ns);
      spec.duty = quality->duty;
      spec.uncertainty = quality->uncertainty;
      spec.range_low = quality->range_low;
      spec.range_high = quality->range_high;
      spec.note = quality->note;
    }
    described.series.push_back(std::move(spec));
  }
  return described;
}

class ReplaySensor final : public telemetry::Sensor {
 public:
  ReplaySensor(std::shared_ptr<const Run> run, const std::string& source, const telemetry::OpenContext& context)
      : run_(std::move(run)), opened_(context.clock.now()) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& series : run_->series) {
      if (series.time_ns.empty() || series.columns.empty()) continue;
      first = std::min(first, series.time_ns.front());
      described_.push_back(describe(*run_, series, source, context.interval));
      played_.emplace_back(*run_, series);
      place_.emplace(record::number(series.device), played_.size() - 1);
    }
    begin_ns_ = run_->number_of(record::meta::kJobBegin) ? std::min(first, run_->extent()->begin_ns) : first;
    events_ = run_->events;
    std::ranges::stable_sort(events_, {}, &record::Event::time_ns);
  }

  [[nodiscard]] std::string_view name() const override { return "replay"; }
  [[nodiscard]] std::vector<telemetry::SensorDevice> devices() const override { return described_; }

  void read(Reading& reading) override {
    const auto since_open = std::max(core::Duration(0), reading.begin() - opened_);
    const auto now_ns = begin_ns_ + since_open.count();
    play_events(now_ns, reading);
    for (std::size_t i = 0; i < played_.size(); ++i) {
      auto& device = played_[i];
      if (device.lost) continue;
      if (device.final_read) {
        device.lost = true;
        reading.lose(i, std::nullopt, "the recording ends here");
        continue;
      }
      if (!device.advance(now_ns)) continue;
      device.put(i, reading);
      // What was counted up to the last row must be read once before the device goes.
      device.final_read = device.ended(now_ns);
    }
  }

  [[nodiscard]] std::vector<record::Fact> facts() override {
    auto facts = run_->facts;
    for (auto& fact : facts) {
      fact.where = record::Where::replayed;
      fact.time_ns.reset();  // of the recorded clock
    }
    return facts;
  }

 private:
  void play_events(std::int64_t now_ns, Reading& reading) {
    for (; next_event_ < events_.size() && events_[next_event_].time_ns <= now_ns; ++next_event_) {
      const auto& event = events_[next_event_];
      const auto place = event.device ? place_.find(*event.device) : place_.end();
      reading.event(place != place_.end() ? std::optional(place->second) : std::nullopt, event.kind, event.text);
    }
  }

  std::shared_ptr<const Run> run_;
  core::Instant opened_;
  std::int64_t begin_ns_ = 0;
  std::vector<telemetry::SensorDevice> described_;
  std::vector<PlayedDevice> played_;
  std::map<std::uint32_t, std::size_t> place_;  // DeviceIndex -> position here
  std::vector<record::Event> events_;
  std::size_t next_event_ = 0;
};

bool has_samples(const Run& run) {
  return std::ranges::any_of(run.series, [](const auto& s) { return !s.time_ns.empty() && !s.columns.empty(); });
}

}  // namespace

ReplayBackend::ReplayBackend(Run run, std::string source)
    : run_(std::make_shared<const Run>(std::move(run))), source_(std::move(source)) {}

core::Result<std::unique_ptr<ReplayBackend>> ReplayBackend::load(const std::filesystem::path& record) {
  const record::LoadOptions options{.raw_counters = true, .marks = false};
  std::error_code ignored;
  auto run = std::filesystem::is_directory(record, ignored) ? record::load_folder(record, options)
                                                            : record::load_file(record, options);
  if (!run) return core::fail(run.error());
  return std::make_unique<ReplayBackend>(std::move(*run), record.filename().string());
}

std::vector<telemetry::SourceStatus> ReplayBackend::probe() {
  telemetry::SourceStatus status{.source = "replay of " + source_, .supplies = "what was recorded"};
  status.usable = has_samples(*run_);
  if (!status.usable) {
    status.detail = "the record holds no samples";
    return {status};
  }
  const auto extent = run_->extent();
  const core::Duration length(extent ? extent->end_ns - extent->begin_ns : 0);
  status.detail = fmt::format("{} devices, {}", run_->devices.size(), core::format_duration(length));
  return {status};
}

core::Result<std::vector<std::unique_ptr<telemetry::Sensor>>> ReplayBackend::open(
    const telemetry::OpenContext& context) {
  std::vector<std::unique_ptr<telemetry::Sensor>> sensors;
  if (has_samples(*run_)) sensors.push_back(std::make_unique<ReplaySensor>(run_, source_, context));
  return sensors;
}

}  // namespace gradwatt::replay
