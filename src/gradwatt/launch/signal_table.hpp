// What gradwatt does with each signal while a job runs under it. Signals that are not in the table (SIGSEGV, SIGBUS, …)
// keep their default action: they mean that gradwatt itself is broken.
#pragma once

#include <signal.h>

#include <span>
#include <string>
#include <string_view>

namespace gradwatt::launch {

enum class SignalPolicy {
  pass_on,   ///< survived; handed to CMD only when CMD did not get it as well (see Supervisor)
  resume,    ///< SIGCONT: handed to the job's stopped processes when CMD is stopped
  child,     ///< SIGCHLD: a process ended or stopped
  swallow,   ///< concerns a write of gradwatt's own: the write reports an error instead
  leave_be,  ///< not in the table
};

struct SignalRule {
  int number;
  std::string_view name;
  SignalPolicy policy;
};

/// Real-time signals follow as pass_on without a row each.
[[nodiscard]] std::span<const SignalRule> signal_table();
[[nodiscard]] SignalPolicy policy_of(int signal);
/// Everything with a policy: what a supervised run blocks and reads from its inbox.
[[nodiscard]] sigset_t supervised_signals();
/// What ends a measurement that has no CMD (`--pid`, `--node`), with those to swallow; Ctrl-Z keeps its normal meaning.
[[nodiscard]] sigset_t ending_signals();
/// "SIGTERM", "SIGRTMIN+2", "signal 99".
[[nodiscard]] std::string signal_name(int signal);

}  // namespace gradwatt::launch
