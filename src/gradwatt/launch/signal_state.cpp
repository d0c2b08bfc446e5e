#include "gradwatt/launch/signal_state.hpp"

namespace gradwatt::launch {

SignalState SignalState::current() {
  SignalState state;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &state.mask);
  for (int number = 1; number < 65; ++number) {
    struct sigaction action {};
    // Numbers that the C library keeps for itself answer with an error and stay "not ignored".
    if (::sigaction(number, nullptr, &action) == 0)
      state.ignored[static_cast<std::size_t>(number)] = action.sa_handler == SIG_IGN;
  }
  return state;
}

void SignalState::apply_in_child() const {
  for (int number = 1; number < 65; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    struct sigaction action {};
    action.sa_handler = ignored[static_cast<std::size_t>(number)] ? SIG_IGN : SIG_DFL;
    ::sigaction(number, &action, nullptr);
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

}  // namespace gradwatt::launch
