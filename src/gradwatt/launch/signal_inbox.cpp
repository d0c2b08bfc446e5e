#include "gradwatt/launch/signal_inbox.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>

namespace gradwatt::launch {

SignalInbox::SignalInbox(const sigset_t& signals) : before_(SignalState::current()) {
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  if (before_.ignored[SIGCHLD]) ::signal(SIGCHLD, SIG_DFL);
  file_.reset(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

SignalInbox::~SignalInbox() {
  while (take()) {
  }
  if (before_.ignored[SIGCHLD]) ::signal(SIGCHLD, SIG_IGN);
  ::pthread_sigmask(SIG_SETMASK, &before_.mask, nullptr);
}

std::optional<ReceivedSignal> SignalInbox::take() {
  signalfd_siginfo info{};
  if (::read(file_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return ReceivedSignal{.number = static_cast<int>(info.ssi_signo),
                        .sender = static_cast<pid_t>(info.ssi_pid),
                        .from_kernel = info.ssi_code == SI_KERNEL};
}

std::optional<ReceivedSignal> SignalInbox::next(std::optional<core::Instant> deadline) {
  for (;;) {
    if (auto signal = take()) return signal;
    pollfd waiting{.fd = file_.get(), .events = POLLIN, .revents = 0};
    const int timeout = poll_timeout_ms(deadline);
    if (timeout == 0) return std::nullopt;
    ::poll(&waiting, 1, timeout);
  }
}

int poll_timeout_ms(std::optional<core::Instant> deadline) {
  if (!deadline) return -1;
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(*deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp(left, milliseconds(0), milliseconds(3'600'000)).count());
}

}  // namespace gradwatt::launch
