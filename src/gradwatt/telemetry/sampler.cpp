#include "gradwatt/telemetry/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <set>
#include <thread>

#include "gradwatt/telemetry/sensor_loop.hpp"
#include "gradwatt/units/quantity.hpp"

namespace gradwatt::telemetry {
namespace {
constexpr core::Duration kOpenPatience = std::chrono::milliseconds(5);
/// A job that ended before its sources were open is no trouble with a driver, unless that took this long.
constexpr core::Duration kSlowOpening = std::chrono::seconds(2);
}  // namespace

/// Shared with every thread: one that hangs in a driver may outlive the Sampler.
class Sampler::State : public std::enable_shared_from_this<Sampler::State> {
 public:
  State(core::Clock& clock, record::Sink& sink, JobScope& job, Options options)
      : clock_(clock), job_(job), options_(std::move(options)) {
    outlet_ = std::make_shared<Outlet>(sink, options_.live ? &live_ : nullptr, options_.host);
  }

  void start(std::vector<Group> groups) {
    const std::lock_guard lock(mutex_);
    started_ = clock_.now();
    for (auto& group : groups) {
      ++opening_;
      launch([self = shared_from_this(), group = std::move(group)](const std::stop_token& stop) mutable {
        self->open(std::move(group), stop);
      });
    }
  }

  bool wait_for_first_readings(core::Duration patience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return opening_ == 0 && first_pending_ == 0; });
  }

  void watch() {
    const auto now = clock_.now();
    const std::lock_guard lock(mutex_);
    for (const auto& loop : loops_) {
      if (loop->abandoned() || loop->in_call(now) < options_.hang_limit) continue;
      loop->abandon();
      const auto text = fmt::format("a call to {} has not come back for {:.0f} s; it is not read any more",
                                    loop->name(), units::in_seconds(options_.hang_limit));
      problems_.push_back(text);
      outlet_->put(record::Event{core::to_ns(now), std::nullopt, "sensor.hung", text});
    }
  }

  void stop(core::Duration patience) {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    for (auto& thread : threads_) thread.request_stop();
    // A driver that is still being opened has no reading to wait for.
    changed_.wait_for(lock, std::min(patience, kOpenPatience), [&] { return opening_ == 0; });
    changed_.wait_for(lock, patience, [&] {
      return std::ranges::all_of(loops_,
                                 [&](const auto& loop) { return loop->abandoned() || finished_.contains(loop.get()); });
    });
    for (const auto& loop : loops_) {
      if (finished_.contains(loop.get()) || loop->abandoned()) continue;
      loop->abandon();
      problems_.push_back(fmt::format("the last reading of {} did not come back", loop->name()));
    }
    if (opening_ > 0 && clock_.now() - started_ > kSlowOpening)
      problems_.emplace_back("a driver was still being opened when the job ended");
    outlet_->close();
    for (auto& thread : threads_) thread.detach();
    threads_.clear();
  }

  [[nodiscard]] Stats stats() const {
    const std::lock_guard lock(mutex_);
    Stats stats;
    for (const auto& loop : loops_) {
      const auto s = loop->stats();
      stats.ticks += s.ticks;
      stats.late_ticks += s.late;
      stats.missed_ticks += s.missed;
    }
    stats.problems = problems_;
    return stats;
  }

  [[nodiscard]] bool left_behind() const {
    const std::lock_guard lock(mutex_);
    return opening_ > 0 || finished_.size() < loops_.size();
  }

  [[nodiscard]] const LiveBoard& live() const { return live_; }

 private:
  /// Caller holds mutex_.
  template <class Work>
  void launch(Work work) {
    threads_.emplace_back(std::move(work));
  }

  void open(Group group, const std::stop_token& stop) {
    std::vector<record::DeviceKind> covered;
    std::vector<std::shared_ptr<SensorLoop>> together;
    for (auto& backend : group) {
      if (stop.stop_requested()) break;
      const auto begin = clock_.now();
      const auto job = job_.snapshot();
      auto sensors = backend->open({clock_, *job, options_.interval, covered});
      if (!sensors) {
        note_problem(std::string(backend->name()), sensors.error().message);
        continue;
      }
      if (!sensors->empty())
        outlet_->put(record::Fact{"sensor.open_s",
                                  std::string(backend->name()),
                                  units::in_seconds(clock_.now() - begin),
                                  "s",
                                  {},
                                  record::How::counter,
                                  record::Where::live,
                                  {},
                                  "sampler"});
      for (auto& sensor : *sensors) {
        add_covered(*sensor, covered);
        const bool alone = sensor->may_block();
        auto loop = std::make_shared<SensorLoop>(std::move(sensor), clock_, job_, outlet_, options_, current_period());
        if (alone)
          run_in_a_thread(std::vector{std::move(loop)});
        else
          together.push_back(std::move(loop));
      }
    }
    if (!together.empty()) run_in_a_thread(std::move(together));
    // The backends stay open as long as their sensors may use what they own.
    const std::lock_guard lock(mutex_);
    std::ranges::move(group, std::back_inserter(backends_));
    --opening_;
    changed_.notify_all();
  }

  /// When the period that runs now began. Those of all sensors are counted from the same instant: threads that wake
  /// together find caches warm that one alone, after a second of sleep, would have to fill again.
  [[nodiscard]] core::Instant current_period() const {
    return started_ + (clock_.now() - started_) / options_.interval * options_.interval;
  }

  static void add_covered(const Sensor& sensor, std::vector<record::DeviceKind>& covered) {
    for (const auto& device : sensor.devices())
      for (const auto& series : device.series) {
        const auto& row = record::info(series.metric);
        if (row.name == "energy" || row.name.starts_with("power")) covered.push_back(device.device.kind);
      }
  }

  void run_in_a_thread(std::vector<std::shared_ptr<SensorLoop>> loops) {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    loops_.insert(loops_.end(), loops.begin(), loops.end());
    first_pending_ += static_cast<int>(loops.size());
    launch([self = shared_from_this(), loops = std::move(loops)](const std::stop_token& stop) {
      run_loops(loops, self->clock_, stop, [&] {
        const std::lock_guard inner(self->mutex_);
        --self->first_pending_;
        self->changed_.notify_all();
      });
      const std::lock_guard inner(self->mutex_);
      for (const auto& loop : loops) self->finished_.insert(loop.get());
      self->changed_.notify_all();
    });
  }

  void note_problem(const std::string& source, const std::string& message) {
    outlet_->put(record::Fact{
        "sensor.absent", source, message, "", {}, record::How::counter, record::Where::live, {}, "sampler"});
    const std::lock_guard lock(mutex_);
    problems_.push_back(message);
  }

  core::Clock& clock_;
  JobScope& job_;
  Options options_;
  LiveBoard live_;
  std::shared_ptr<Outlet> outlet_;
  core::Instant started_{};   // before any thread
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::list<std::jthread> threads_;
  std::vector<std::shared_ptr<SensorLoop>> loops_;
  std::set<const SensorLoop*> finished_;
  Group backends_;
  bool stopping_ = false;
  int opening_ = 0;
  int first_pending_ = 0;
  std::vector<std::string> problems_;
};

Sampler::Sampler(core::Clock& clock, record::Sink& sink, JobScope& job, Options options)
    : state_(std::make_shared<State>(clock, sink, job, std::move(options))) {}
Sampler::~Sampler() { stop(std::chrono::seconds(1)); }

void Sampler::start(std::vector<Group> groups) { state_->start(std::move(groups)); }
bool Sampler::wait_for_first_readings(core::Duration patience) { return state_->wait_for_first_readings(patience); }
void Sampler::watch() { state_->watch(); }
void Sampler::stop(core::Duration patience) { state_->stop(patience); }
bool Sampler::left_behind() const { return state_->left_behind(); }
const LiveBoard& Sampler::live() const { return state_->live(); }
Sampler::Stats Sampler::stats() const { return state_->stats(); }

}  // namespace gradwatt::telemetry
