// Signals as messages: blocked in every thread and read one by one where they are wanted, so that no handler runs in
// the middle of anything.
//
//   SignalInbox inbox(supervised_signals());       // before any thread starts: threads inherit the mask
//   while (auto signal = inbox.next(deadline)) …
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/launch/descriptor.hpp"
#include "gradwatt/launch/signal_state.hpp"

namespace gradwatt::launch {

struct ReceivedSignal {
  int number = 0;
  pid_t sender = 0;          ///< 0: the kernel (terminal), or a process outside this pid namespace
  bool from_kernel = false;  ///< the terminal driver, not kill(2)
};

/// One owner at a time: read by the supervisor while CMD runs, then by Impatience. Opening it changes the calling
/// thread's mask (and SIGCHLD from ignored to default, without which no exit status is kept); closing puts both back.
class SignalInbox {
 public:
  explicit SignalInbox(const sigset_t& signals);
  ~SignalInbox();
  SignalInbox(const SignalInbox&) = delete;
  SignalInbox& operator=(const SignalInbox&) = delete;

  /// What gradwatt was started with; CMD gets it back.
  [[nodiscard]] const SignalState& before() const { return before_; }
  /// The next signal; nothing when `deadline` passed first. No deadline: waits for ever.
  [[nodiscard]] std::optional<ReceivedSignal> next(std::optional<core::Instant> deadline);
  /// A signal that is already there, else nothing.
  [[nodiscard]] std::optional<ReceivedSignal> take();
  /// Readable when a signal waits; for poll() beside other descriptors.
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  SignalState before_;
  Descriptor file_;
};

/// How many milliseconds poll() may sleep until `deadline`, rounded up; -1: for ever.
[[nodiscard]] int poll_timeout_ms(std::optional<core::Instant> deadline);

}  // namespace gradwatt::launch
