// The measured job as one device: CPU time, memory, storage bytes and threads of its whole process tree.
//
// CPU time comes from the process tree (rule in process_tree.hpp), or from the job's control group where it has one of
// its own: a group that holds processes of the job and no others, has none below it, and is not gradwatt's. The group
// knows ended processes to the microsecond. When a stranger enters the group, the tree takes over from there on.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "gradwatt/backends/proc/cgroups.hpp"
#include "gradwatt/backends/proc/process_tree.hpp"
#include "gradwatt/backends/proc/thread_census.hpp"
#include "gradwatt/telemetry/sensor.hpp"

namespace gradwatt::proc {

class JobSensor final : public telemetry::Sensor {
 public:
  struct Options {
    core::Duration tree_budget = std::chrono::microseconds(700);         ///< a piece of work on the process tree
    core::Duration census_budget = std::chrono::microseconds(400);       ///< a piece of the routine census
    core::Duration census_budget_asked = std::chrono::milliseconds(10);  ///< a piece, when somebody waits for it
    core::Duration tree_pause = std::chrono::milliseconds(20);           ///< between pieces
    int census_pause_per_cost = 300;  ///< between pieces: a census takes this share of a core and no more
    core::Duration census_period = std::chrono::seconds(10);
    long ticks_per_s = 100;  ///< sysconf(_SC_CLK_TCK)
    long page_bytes = 4096;
  };

  /// `census_asked` may be set from any thread.
  JobSensor(core::FileTree tree, const core::Clock& clock, const telemetry::JobScope::Snapshot& job,
            std::shared_ptr<std::atomic<bool>> census_asked, Options options);

  [[nodiscard]] std::string_view name() const override { return "proc-job"; }
  [[nodiscard]] std::vector<telemetry::SensorDevice> devices() const override { return devices_; }
  bool follow(const telemetry::JobScope::Snapshot& job) override;
  void read(telemetry::Reading& reading) override;
  [[nodiscard]] std::optional<core::Duration> backlog() const override;
  void catch_up() override;
  [[nodiscard]] std::vector<record::Fact> facts() override;

 private:
  /// CPU time that never falls, from one source after another.
  struct CpuClock {
    std::int64_t total_us = 0;
    std::optional<std::int64_t> last_us;  ///< of the source in use
    void advance(std::int64_t now_us);
  };

  void describe(bool whole_host);
  void read_tree(telemetry::Reading& reading);
  void read_cpu_time(telemetry::Reading& reading, const ProcessTree::Totals& totals);
  void read_storage(telemetry::Reading& reading, const ProcessTree::Totals& totals);
  void read_throttled(telemetry::Reading& reading);
  void begin_census_if_due();
  void go_on_with_census(core::Duration budget);
  void read_census(telemetry::Reading& reading);
  void read_host(telemetry::Reading& reading);
  void choose_cpu_source();
  [[nodiscard]] bool group_is_the_jobs() const;

  core::FileTree tree_;
  const core::Clock& clock_;
  std::shared_ptr<std::atomic<bool>> census_asked_;
  Options options_;
  std::vector<telemetry::SensorDevice> devices_;
  bool whole_host_ = false;
  std::vector<pid_t> roots_;
  ProcessTree processes_;
  ThreadCensus census_;
  std::optional<core::Instant> first_census_;
  core::Duration census_pause_{0};
  std::optional<ThreadCensus::Counts> counted_;  // by a census, not yet handed on
  std::optional<core::Instant> last_census_;
  bool census_in_haste_ = false;
  Cgroups groups_;
  bool has_throttling_ = false;
  bool source_chosen_ = false;
  bool by_group_ = false;
  core::Instant next_group_check_{};
  CpuClock cpu_;
};

}  // namespace gradwatt::proc
