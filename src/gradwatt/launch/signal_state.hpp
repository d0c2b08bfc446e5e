// The signal mask and the ignored signals that gradwatt was started with. CMD must get exactly these: a job under nohup
// still ignores SIGHUP, and nothing that gradwatt blocks or ignores for itself reaches the job.
#pragma once

#include <signal.h>

#include <bitset>

namespace gradwatt::launch {

struct SignalState {
  sigset_t mask{};            ///< of the calling thread
  std::bitset<65> ignored;    ///< by signal number; every other signal has its default action in a new program

  /// Take it early in main, before anything blocks or ignores a signal.
  [[nodiscard]] static SignalState current();
  /// For a child between fork and exec: async-signal-safe, touches no memory but its own stack.
  void apply_in_child() const;
};

}  // namespace gradwatt::launch
