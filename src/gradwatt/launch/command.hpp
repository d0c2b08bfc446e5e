// Starts the user's command so that nothing of its life hangs on gradwatt: it inherits stdin, stdout and stderr
// themselves (no pipe, no pseudo-terminal), stays in gradwatt's process group and so in the terminal's foreground, gets
// the signal mask and ignored signals that gradwatt was started with, and outlives gradwatt.
//
//   SignalInbox inbox(supervised_signals());
//   auto command = Command::start({.arguments = {"python3", "train.py"}, .environment = …, .signals = inbox.before()});
//   if (!command) { print(command.error().message); return start_failure_status(command.error()); }
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/result.hpp"
#include "gradwatt/launch/environment.hpp"
#include "gradwatt/launch/signal_state.hpp"

namespace gradwatt::launch {

class Command {
 public:
  struct Spec {
    std::vector<std::string> arguments;  ///< the first is the program, searched in PATH as a shell does
    Environment environment;
    SignalState signals;  ///< what CMD shall get: SignalInbox::before()
  };

  /// Starts it and makes this process the reaper of its orphans. Descriptors that gradwatt inherited are passed on (a
  /// launcher's control socket, a shell's <(…)); those that it opened itself are closed by their O_CLOEXEC.
  /// Errors: wrong_use (nothing to start), not_found (127 for a shell), not_permitted or io (126).
  [[nodiscard]] static core::Result<Command> start(const Spec& spec, const core::Clock& clock);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] core::Instant started() const { return started_; }

 private:
  Command(pid_t pid, core::Instant started) : pid_(pid), started_(started) {}
  pid_t pid_;
  core::Instant started_;
};

/// The exit status that a shell would give for a command that cannot be started: 127 not found, else 126.
[[nodiscard]] int start_failure_status(const core::Error& error);

}  // namespace gradwatt::launch
