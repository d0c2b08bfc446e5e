// Several gradwatts of one run on one host (srun, mpirun and torchrun start one a task). The first to take a lock
// leads: it samples and writes. The others are members: they tell it their CMD's process, its GPUs and its exit status
// through files in a private folder in memory. All hold locks that the kernel frees when a process dies in any way, so
// a killed gradwatt is noticed and never waited for.
//
//   auto membership = Membership::join(run_id, options);      // before CMD starts: it names the folder of the marks
//   membership->command_started(pid, visible_gpus);
//   leader, each tick:  membership->update(job_scope);
//   membership->command_ended(status, when);
//   leader, at the end: membership->wait_for_others(clock, stop); … membership->run_exit_status();
//   membership->leave();                                      // the last one removes the folder
//
// Files (format 1): `gate` locked around every change of who is in; `leader.lock` held by the leader;
// `member-<pid>` held by each gradwatt, with whole lines "start PID", "gpus LIST" or "gpus-all", "exit STATUS NS";
// `marks/` for the rings of the job's processes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/folder_watch.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/launch/descriptor.hpp"
#include "gradwatt/telemetry/job_scope.hpp"

namespace gradwatt::launch {

/// What the leader knows of one gradwatt, its own included.
struct Member {
  pid_t gradwatt = 0;
  std::optional<pid_t> command;
  std::optional<std::string> visible_gpus;  ///< nothing: no restriction
  std::optional<int> exit_status;
  core::Instant ended;  ///< when exit_status is there
  bool gone = false;    ///< its gradwatt has ended; without exit_status it was killed
  [[nodiscard]] bool running() const { return !exit_status && !gone; }
};

/// Any thread: the sampler updates while the main thread waits.
class Membership {
 public:
  struct Options {
    /// First usable one is taken; every task of the host must be given the same list.
    std::vector<std::filesystem::path> roots = default_roots();
    /// Tasks that the launcher starts on this host, where it says so: the leader waits a little for late ones.
    std::optional<int> expected;
    core::Duration late_patience = std::chrono::seconds(5);
  };
  /// /dev/shm, then $TMPDIR, then /tmp.
  [[nodiscard]] static std::vector<std::filesystem::path> default_roots();

  /// Errors: not_permitted (no root holds a folder that is this user's alone), timeout (another gradwatt is stopped
  /// while it joins), io. The job can run without: it is then measured alone, or not at all.
  [[nodiscard]] static core::Result<Membership> join(std::string_view run_id, const Options& options);
  [[nodiscard]] static core::Result<Membership> join(std::string_view run_id) { return join(run_id, Options{}); }
  Membership(Membership&&) = default;
  Membership& operator=(Membership&&) = delete;
  ~Membership();

  [[nodiscard]] bool leads() const { return static_cast<bool>(leader_lock_); }
  /// An earlier leader of this run was killed, and others of it still run: a record of theirs already exists.
  [[nodiscard]] bool took_over() const { return took_over_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  /// For GRADWATT_MARKS.
  [[nodiscard]] std::filesystem::path marks_folder() const { return folder_ / "marks"; }

  /// `visible_gpus`: CMD's CUDA_VISIBLE_DEVICES; nothing where it is not set.
  void command_started(pid_t command, const std::optional<std::string>& visible_gpus);
  void command_ended(int exit_status, core::Instant when);
  /// For members: false when the leader was killed, and the record ends there.
  [[nodiscard]] bool leader_alive() const;

  /// Leader: reads what is new (microseconds a member) and, where it changed the job, edits the scope. True: changed.
  bool update(telemetry::JobScope& scope);
  /// Leader: everyone seen so far, by gradwatt's pid.
  [[nodiscard]] std::vector<Member> members() const;
  /// Leader: returns when every other member has ended or died and the expected ones have come or are too late; false
  /// when `stop` came first.
  bool wait_for_others(core::Clock& clock, const std::stop_token& stop);
  /// Leader: the first non-zero status in time; 0 when all are; nothing when one that was killed kept its status.
  [[nodiscard]] std::optional<int> run_exit_status() const;
  /// Gives up the place; the last one out removes the folder. Idempotent, also done by the destructor.
  void leave();

 private:
  struct Watched {
    Member member;
    Descriptor file;
    off_t read = 0;
    std::string rest;  ///< of a line that is not complete yet
  };
  Membership() = default;
  static core::Result<Membership> try_join(const std::filesystem::path& folder);
  core::Result<void> enter();
  [[nodiscard]] Descriptor lock_gate() const;
  [[nodiscard]] bool folder_is_current() const;
  void append(const std::string& line) const;
  void poll();
  bool find_new_members();
  static bool read_news(Watched& watched);
  void forget_the_dead();
  [[nodiscard]] bool others_running() const;
  [[nodiscard]] bool anyone_alive() const;

  std::filesystem::path folder_;
  Descriptor folder_file_, leader_lock_, own_file_;
  Options options_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // guards the four below
  std::map<pid_t, Watched> watched_;
  std::optional<core::FolderWatch> watch_;
  std::uint64_t changes_ = 0, applied_changes_ = 0;
  bool took_over_ = false;
};

}  // namespace gradwatt::launch
