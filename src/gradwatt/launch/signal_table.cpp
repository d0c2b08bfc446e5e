#include "gradwatt/launch/signal_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradwatt::launch {
namespace {

using enum SignalPolicy;
constexpr auto kSignals = std::to_array<SignalRule>({
    // the terminal, a launcher or a person wants the job to end
    {SIGINT, "SIGINT", pass_on},
    {SIGQUIT, "SIGQUIT", pass_on},
    {SIGTERM, "SIGTERM", pass_on},
    {SIGHUP, "SIGHUP", pass_on},
    {SIGABRT, "SIGABRT", pass_on},  // abort() of gradwatt itself unblocks it first and still works
    // warnings of batch systems, and what jobs use among themselves
    {SIGUSR1, "SIGUSR1", pass_on},
    {SIGUSR2, "SIGUSR2", pass_on},
    {SIGALRM, "SIGALRM", pass_on},
    {SIGVTALRM, "SIGVTALRM", pass_on},
    {SIGPROF, "SIGPROF", pass_on},
    {SIGXCPU, "SIGXCPU", pass_on},
    {SIGIO, "SIGIO", pass_on},
    {SIGURG, "SIGURG", pass_on},
    {SIGPWR, "SIGPWR", pass_on},
    {SIGSTKFLT, "SIGSTKFLT", pass_on},
    {SIGWINCH, "SIGWINCH", pass_on},
    // job control: CMD stops by itself, then gradwatt follows (Supervisor)
    {SIGTSTP, "SIGTSTP", pass_on},
    {SIGTTIN, "SIGTTIN", pass_on},
    {SIGTTOU, "SIGTTOU", pass_on},
    {SIGCONT, "SIGCONT", resume},
    {SIGCHLD, "SIGCHLD", child},
    // writes of gradwatt into a closed pipe or past a file size limit
    {SIGPIPE, "SIGPIPE", swallow},
    {SIGXFSZ, "SIGXFSZ", swallow},
});

constexpr std::array kEnding{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};

}  // namespace

std::span<const SignalRule> signal_table() { return kSignals; }

SignalPolicy policy_of(int signal) {
  const auto* rule = std::ranges::find(kSignals, signal, &SignalRule::number);
  if (rule != kSignals.end()) return rule->policy;
  return signal >= SIGRTMIN && signal <= SIGRTMAX ? pass_on : leave_be;
}

sigset_t supervised_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (policy_of(signal) != leave_be) ::sigaddset(&set, signal);
  return set;
}

sigset_t ending_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : kEnding) ::sigaddset(&set, signal);
  return set;
}

std::string signal_name(int signal) {
  const auto* rule = std::ranges::find(kSignals, signal, &SignalRule::number);
  if (rule != kSignals.end()) return std::string(rule->name);
  if (signal >= SIGRTMIN && signal <= SIGRTMAX) return fmt::format("SIGRTMIN+{}", signal - SIGRTMIN);
  if (const char* abbreviation = ::sigabbrev_np(signal)) return fmt::format("SIG{}", abbreviation);
  return fmt::format("signal {}", signal);
}

}  // namespace gradwatt::launch
