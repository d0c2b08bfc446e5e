#include "gradwatt/telemetry/sensor_loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gradwatt/units/quantity.hpp"

namespace gradwatt::telemetry {
namespace {

using namespace std::chrono_literals;

/// Quality rows are small, but a killed run should still say how good its series are.
constexpr core::Duration kQualityEvery = 30s;
/// A reading that takes more than this share of its period is too dear.
constexpr double kDear = 0.1;
/// What a sensor may still catch up with before its last reading.
constexpr core::Duration kLastCatchUp = 10ms;

}  // namespace

record::DeviceIndex Outlet::add_device(record::Device device) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<record::DeviceIndex>(next_device_++);
  if (device.host.empty()) device.host = host_;
  if (live_ != nullptr) live_->add_device(index, device);
  if (sink_ != nullptr) sink_->add_device(index, device);
  return index;
}

void Outlet::put(SeriesBook::Outcome outcome) {
  const std::lock_guard lock(mutex_);
  if (sink_ == nullptr) return;
  for (auto& row : outcome.rows) {
    if (live_ != nullptr) live_->add_row(row);
    sink_->add_row(std::move(row));
  }
  for (auto& event : outcome.events) sink_->add_event(std::move(event));
}

void Outlet::put(const std::vector<record::SeriesQuality>& quality) {
  const std::lock_guard lock(mutex_);
  if (sink_ == nullptr) return;
  for (const auto& q : quality) sink_->set_quality(q);
}

void Outlet::put(record::Fact fact) {
  const std::lock_guard lock(mutex_);
  if (sink_ != nullptr) sink_->add_fact(std::move(fact));
}

void Outlet::put(record::Event event) {
  const std::lock_guard lock(mutex_);
  if (sink_ != nullptr) sink_->add_event(std::move(event));
}

void Outlet::close() {
  const std::lock_guard lock(mutex_);
  sink_ = nullptr;
}

SensorLoop::SensorLoop(std::unique_ptr<Sensor> sensor, core::Clock& clock, JobScope& job,
                       std::shared_ptr<Outlet> outlet, const Sampler::Options& options, core::Instant origin)
    : sensor_(std::move(sensor)),
      name_(sensor_->name()),
      clock_(clock),
      job_(job),
      outlet_(std::move(outlet)),
      options_(options) {
  follow_job();
  register_new_devices();
  const auto sampling = book_.must_integrate() ? record::Sampling::stratified : record::Sampling::deadline;
  schedule_.emplace(origin, options_.interval, sampling, options_.seed);
}

core::Duration SensorLoop::in_call(core::Instant now) const {
  const auto since = call_since_ns_.load();
  return since == 0 ? core::Duration{0} : now - core::from_ns(since);
}

SensorLoop::Stats SensorLoop::stats() const {
  const std::lock_guard lock(stats_mutex_);
  return stats_;
}

void SensorLoop::register_new_devices() {
  const auto devices = sensor_->devices();
  for (; devices_known_ < devices.size(); ++devices_known_) {
    const auto& device = devices[devices_known_];
    book_.add_device(outlet_->add_device(device.device), device);
  }
  if (schedule_) put_quality();
}

void SensorLoop::follow_job() {
  const auto job = job_.snapshot();
  if (job->generation == generation_) return;
  generation_ = job->generation;
  if (sensor_->follow(*job) && schedule_) register_new_devices();
}

Reading SensorLoop::read() {
  const auto begin = clock_.now();
  call_since_ns_ = core::to_ns(begin);
  Reading reading(begin);
  sensor_->read(reading);
  call_since_ns_ = 0;
  latency_.add(clock_.now() - begin);
  return reading;
}

void SensorLoop::tick() {
  follow_job();
  const Reading reading = read();
  if (abandoned_) return;
  outlet_->put(book_.enter(reading));
  if (reading.begin() >= quality_due_) {
    put_quality();
    quality_due_ = reading.begin() + kQualityEvery;
  }
  back_off_if_slow();
  const std::lock_guard lock(stats_mutex_);
  ++stats_.ticks;
  stats_.missed = schedule_->missed();
}

void SensorLoop::back_off_if_slow() {
  const auto cost = latency_.undisturbed();
  if (!cost || units::in_seconds(*cost) <= kDear * units::in_seconds(schedule_->interval())) return;
  schedule_->lengthen(clock_.now());
  latency_ = {};
  outlet_->put(record::Event{core::to_ns(clock_.now()), std::nullopt, "sensor.backoff",
                             fmt::format("reading {} takes {:.1f} ms; it is now read every {:.2f} s", name_,
                                         units::in_seconds(*cost) * 1e3, units::in_seconds(schedule_->interval()))});
}

void SensorLoop::put_quality() { outlet_->put(book_.quality(*schedule_)); }

void SensorLoop::put_facts() {
  for (auto& fact : sensor_->facts()) outlet_->put(std::move(fact));
  const auto say = [&](const char* fact, core::Duration value) {
    outlet_->put(record::Fact{
        fact, name_, units::in_seconds(value), "s", {}, record::How::counter, record::Where::live, {}, "sampler"});
  };
  if (const auto median = latency_.median()) say("sensor.call_latency_s", *median);
  say("sensor.call_latency_max_s", latency_.longest());
}

void SensorLoop::end_calibration_if_due() {
  // A source that is slow to read is not asked in quick succession.
  if (!watch_ || (clock_.now() < calibrated_at_ && latency_.longest() < UpdateWatch::kPace / 3)) return;
  for (const auto& found : watch_->found()) book_.set_update_period(found.device, found.metric, found.period);
  watch_.reset();
}

void SensorLoop::begin() {
  put_quality();
  tick();
  due_ = schedule_->next(clock_.now());
  if (schedule_->sampling() == record::Sampling::deadline) due_ = schedule_->next(clock_.now());
  if (options_.calibrate && UpdateWatch::worth(sensor_->devices())) watch_.emplace();
  calibrated_at_ = clock_.now() + UpdateWatch::kLength;
  plan();
}

core::Instant SensorLoop::wake() const {
  return std::min({due_, extra_due_.value_or(due_), piece_due_.value_or(due_)});
}

void SensorLoop::work() {
  const auto now = clock_.now();
  if (now >= due_)
    read_on_time();
  else if (extra_due_ && now >= *extra_due_)
    read_to_calibrate();
  else if (piece_due_ && now >= *piece_due_)
    catch_up();
  else
    return;
  plan();
}

void SensorLoop::plan() {
  const auto now = clock_.now();
  end_calibration_if_due();
  extra_due_ = watch_ ? std::optional(now + UpdateWatch::kPace) : std::nullopt;
  const auto pause = sensor_->backlog();
  piece_due_ = pause ? std::optional(now + *pause) : std::nullopt;
}

void SensorLoop::read_on_time() {
  const auto late = clock_.now() - due_;
  tick();
  due_ = schedule_->next(clock_.now());
  if (late <= schedule_->interval() / 10) return;
  const std::lock_guard lock(stats_mutex_);
  ++stats_.late;
}

void SensorLoop::read_to_calibrate() {
  const Reading extra = read();
  watch_->see(extra);
  outlet_->put(book_.enter_losses(extra));
}

void SensorLoop::catch_up() {
  call_since_ns_ = core::to_ns(clock_.now());
  sensor_->catch_up();
  call_since_ns_ = 0;
}

void SensorLoop::end() {
  const auto patience = clock_.now() + kLastCatchUp;
  while (sensor_->backlog() && clock_.now() < patience) catch_up();
  tick();
  put_quality();
  put_facts();
}

void run_loops(const std::vector<std::shared_ptr<SensorLoop>>& loops, core::Clock& clock, const std::stop_token& stop,
               const std::function<void()>& on_first) {
  const auto in_use = [](const auto& loop) { return !loop->abandoned(); };
  for (const auto& loop : loops) {
    loop->begin();
    on_first();
  }
  while (std::ranges::any_of(loops, in_use)) {
    auto wake = core::Instant::max();
    for (const auto& loop : loops) wake = std::min(wake, loop->wake());
    if (!clock.sleep_until(wake, stop)) break;
    for (const auto& loop : loops)
      if (in_use(loop)) loop->work();
  }
  for (const auto& loop : loops)
    if (in_use(loop)) loop->end();
}

}  // namespace gradwatt::telemetry
