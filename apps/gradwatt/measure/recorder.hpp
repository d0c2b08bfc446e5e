// Everything that stands beside a measured job: the record's writer, the sampler, the rings with the job's marks, and a
// housekeeping thread. Nothing here delays the job; what fails is kept as a sentence for the end.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/diagnosis/triggers.hpp"
#include "gradwatt/launch/marks/ring_directory.hpp"
#include "gradwatt/record/store.hpp"
#include "gradwatt/telemetry/sampler.hpp"
#include "measure/live_feed.hpp"
#include "measure/run_place.hpp"
#include "measure/trigger_watch.hpp"

namespace gradwatt::app {

/// Steps seen so far, for the status line.
struct StepCount {
  std::int64_t steps = 0;  ///< of the rank that has most
  std::optional<double> steps_per_s;
  std::optional<std::int64_t> total_steps;  ///< where the job said it
};

class Recorder {
 public:
  struct Plan {
    RunPlace place;
    std::vector<telemetry::Sampler::Group> backends;
    telemetry::Sampler::Options sampling;
    std::filesystem::path marks_folder;  ///< empty: the job has no rings
    std::map<std::string, std::string, std::less<>> meta;
    TriggerWatch::Options triggers;  ///< what happens when one fires
    /// False in a process that also is the job: its CPU time and memory are not what measuring costs.
    bool process_is_ours = true;
    /// Called every second from the housekeeping thread.
    std::function<void(const Recorder&)> each_second = [](const Recorder&) {};
  };

  Recorder(core::Clock& clock, telemetry::JobScope& job, Plan plan);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Opens the record (in memory where that fails) and starts the sampler.
  void start();
  bool wait_for_first_readings(core::Duration patience) { return sampler_->wait_for_first_readings(patience); }
  void job_began(core::Instant when);
  void event(std::string kind, std::string text);
  void fact(record::Fact fact) { writer_->add_fact(std::move(fact)); }
  [[nodiscard]] const telemetry::LiveBoard& live() const { return sampler_->live(); }
  [[nodiscard]] StepCount steps() const;
  /// What the triggers see in the last minutes, strongest first.
  [[nodiscard]] std::vector<diagnosis::Trigger> alerts() const;

  struct Finished {
    record::Run run;                    ///< as a report needs it
    std::vector<std::string> problems;  ///< one sentence each
    bool kept = false;                  ///< the record is whole on disk
    bool thread_left_behind = false;    ///< a driver or disk hangs: leave the process without waiting for it
  };
  /// Last readings, end of the record.
  [[nodiscard]] Finished finish(core::Instant job_end, std::optional<int> exit_status);

 private:
  void keep_house(const std::stop_token& stop);
  void take(const launch::marks::Batch& batch);
  void write_own_cost();

  core::Clock& clock_;
  telemetry::JobScope& job_;
  Plan plan_;
  std::unique_ptr<record::Writer> writer_;
  std::unique_ptr<LiveFeed> feed_;     ///< between sampler and writer
  std::optional<TriggerWatch> watch_;  // housekeeping thread, after its end finish()
  std::unique_ptr<telemetry::Sampler> sampler_;
  core::Instant began_{};  ///< the rounds of housekeeping are counted from here, as the sampler's periods are
  std::optional<launch::marks::RingDirectory> rings_;  // housekeeping thread, after its end finish()
  std::vector<std::string> problems_;
  std::uint64_t marks_lost_ = 0;
  mutable std::mutex steps_mutex_;  // guards the three below
  std::map<std::int32_t, std::int64_t> steps_of_rank_;
  std::vector<std::int64_t> recent_step_ends_ns_;
  std::optional<std::int64_t> total_steps_;
  std::jthread housekeeper_;
};

}  // namespace gradwatt::app
