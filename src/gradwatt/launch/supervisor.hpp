// Waits for CMD and keeps gradwatt alive around it, so that the report comes after Ctrl-C, a time limit or a crash too.
//
// A signal that reached the job anyway is survived and not passed on; one that was sent to gradwatt alone is passed on.
// Who got it is told by the Sentinel:
//
//   Ctrl-C, Ctrl-\, Ctrl-Z at the terminal    the whole foreground group: not passed on
//   scancel, srun, mpirun, systemd stop       every process of the step or group: not passed on
//   timeout(1)                                first gradwatt alone, at once the group: not passed on
//   docker stop, kill PID, supervisors        gradwatt alone: passed on after a grace of 50 ms
//   terminal hangs up                         the session leader alone; where that is gradwatt: passed on
//   sent by the job itself                    not passed back
//
// Where CMD has left gradwatt's process group, group signals did not reach it and are passed on as well. Without a
// sentinel, signals from the terminal driver count as sent to the group and all others as sent to gradwatt alone.
//
// Job control: when CMD stops by Ctrl-Z or by touching the terminal from the background, gradwatt stops itself by the
// same signal, so that the shell sees a stopped job; `fg` and `bg` continue both. A plain SIGSTOP to CMD alone does not
// stop gradwatt, as nothing would wake it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/launch/command.hpp"
#include "gradwatt/launch/sentinel.hpp"
#include "gradwatt/launch/signal_inbox.hpp"

namespace gradwatt::launch {

/// How CMD ended.
struct Outcome {
  int exit_status = 0;        ///< what gradwatt returns: CMD's own, or 128 + n for signal n
  std::optional<int> signal;  ///< that ended CMD
  bool core_dumped = false;
  core::Instant ended;
  core::Duration cpu_time{0};  ///< user and system, of CMD and every descendant that was waited for
  int orphans_reaped = 0;      ///< descendants that outlived their parent and ended before CMD did
};

class Supervisor {
 public:
  struct Options {
    /// Long enough for a launcher that signals thousands of processes one by one; short for who waits on `kill`.
    core::Duration grace = std::chrono::milliseconds(50);
    /// Told of each signal and stop, for the record's events: a kind ("signal", "stopped") and one sentence.
    std::function<void(std::string_view kind, std::string text)> on_event = [](std::string_view, const std::string&) {};
  };

  /// All references must outlive it. `sentinel` may be null.
  Supervisor(const Command& command, SignalInbox& inbox, Sentinel* sentinel, const core::Clock& clock, Options options);
  Supervisor(const Command& command, SignalInbox& inbox, Sentinel* sentinel, const core::Clock& clock)
      : Supervisor(command, inbox, sentinel, clock, Options{}) {}

  /// Returns when CMD has ended; daemons that it leaves behind are not waited for. Reaps every child of this process,
  /// so no other part of the program may wait for children of its own meanwhile.
  [[nodiscard]] Outcome wait();

 private:
  struct Pending {
    ReceivedSignal signal;
    bool resume = false;  ///< SIGCONT: only for a CMD that is stopped
  };
  void reap();
  void on_signal(const ReceivedSignal& signal);
  void settle();
  void pass_on(const ReceivedSignal& signal);
  void continue_job();
  void on_stopped(int signal);
  void stop_self(int signal);
  [[nodiscard]] bool from_the_job(const ReceivedSignal& signal) const;
  [[nodiscard]] bool command_is_stopped() const;

  const Command& command_;
  SignalInbox& inbox_;
  Sentinel* sentinel_;
  const core::Clock& clock_;
  Options options_;
  core::FileTree files_;  ///< the real /proc: this class deals with real processes only
  std::vector<Pending> pending_;
  std::optional<core::Instant> settle_at_;
  std::optional<core::Instant> stop_asked_;  ///< when the terminal last asked for a stop
  std::optional<Outcome> outcome_;
  int orphans_reaped_ = 0;
};

}  // namespace gradwatt::launch
