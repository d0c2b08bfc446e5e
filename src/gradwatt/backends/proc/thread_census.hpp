// What the job's threads are doing: the expensive look into /proc/PID/task, taken rarely and in pieces that fit a tick.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "gradwatt/backends/proc/pid_files.hpp"
#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::proc {

class ThreadCensus {
 public:
  struct Counts {
    std::int64_t running = 0;   ///< running or runnable
    std::int64_t sleeping = 0;  ///< asleep, stopped or idle
    std::int64_t blocked = 0;   ///< uninterruptible wait
    /// Data-loader workers: processes that name themselves pt_data_worker, and Python processes that were forked off
    /// another one of the job and never started a program of their own (same command line as their parent).
    std::int64_t workers = 0;
    /// Of these: waiting for what they read, in uninterruptible wait or asleep in a read call. An idle worker polls
    /// its queue instead.
    std::int64_t workers_blocked = 0;
    /// CPUs that the workers which were there at the last census too kept busy since. Nothing at the first.
    std::optional<double> workers_cpu;
    /// Time that threads were runnable without a CPU, ended ones with what was last seen of them. Only grows.
    /// Nothing: this kernel keeps no schedstat.
    std::optional<std::int64_t> cpu_wait_ns;
  };

  /// `ticks_per_s`: unit of CPU times in /proc.
  ThreadCensus(core::FileTree tree, const core::Clock& clock, std::int64_t ticks_per_s = 100);

  /// Begins a census of these processes (pid, parent); one under way is dropped.
  void begin(std::vector<std::pair<pid_t, pid_t>> processes);
  [[nodiscard]] bool under_way() const { return under_way_; }
  /// Works for `budget`, at least one process; the counts once all are visited.
  [[nodiscard]] std::optional<Counts> advance(core::Duration budget);
  /// CPUs on which threads were found that had kept a CPU busy for a tenth of the time since the census before; the
  /// more censuses, the more of those that the job moves between. Zero: no thread was.
  [[nodiscard]] std::size_t cpus_used() const { return cpus_used_.size(); }
  /// Of the time that NCCL's own threads wanted a CPU, the part that they had none, since their start; nothing where no
  /// thread bears such a name (NCCL names them with NCCL_SET_THREAD_NAME=1). As of the last complete census.
  [[nodiscard]] std::optional<double> nccl_wait_share() const { return nccl_wait_share_; }

 private:
  struct Thread {
    std::int64_t delay_ns = 0;
    std::int64_t ticks = 0;
    std::uint64_t census = 0;
  };
  struct Program {
    std::string name, command_line;
    std::uint64_t census = 0;
    bool is_worker = false;
    std::int64_t ticks = 0;  ///< CPU time of its threads
  };
  void visit(pid_t pid, pid_t parent);
  void visit_thread(pid_t pid, const std::string& thread);
  void see_cpu(Thread& known, const PidStat& stat);
  Program& program(pid_t pid);
  [[nodiscard]] bool is_worker(const Program& own, pid_t parent) const;
  void count_worker(pid_t pid, Program& own);
  Counts finish();

  core::FileTree tree_;
  const core::Clock& clock_;
  std::vector<std::pair<pid_t, pid_t>> processes_;
  std::size_t next_ = 0;
  bool under_way_ = false;
  std::uint64_t census_ = 0;
  Counts counts_;
  bool delay_known_ = false;
  std::unordered_map<std::string, Thread> threads_;
  std::unordered_map<pid_t, Program> programs_;
  std::int64_t ended_delay_ns_ = 0;
  std::set<int> cpus_used_;
  SchedStat nccl_;  // all of its threads, in this census
  std::optional<double> nccl_wait_share_;
  std::int64_t ticks_per_s_;
  std::optional<core::Instant> begun_, last_begun_;
  std::optional<std::int64_t> worker_ticks_;  // of workers seen twice, since the last census
};

}  // namespace gradwatt::proc
