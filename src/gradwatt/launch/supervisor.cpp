#include "gradwatt/launch/supervisor.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "gradwatt/launch/process_table.hpp"
#include "gradwatt/launch/signal_table.hpp"

namespace gradwatt::launch {
namespace {

constexpr std::array kTerminalStops{SIGTSTP, SIGTTIN, SIGTTOU};
// Some programs answer Ctrl-Z by putting the terminal in order and then stopping by SIGSTOP.
constexpr auto kStopFollows = std::chrono::seconds(2);

bool contains(std::uint64_t set, int signal) { return ((set >> static_cast<unsigned>(signal - 1)) & 1U) != 0; }

core::Duration time_of(const timeval& t) {
  return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
}

core::Duration cpu_time_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return time_of(usage.ru_utime) + time_of(usage.ru_stime);
}

Outcome outcome_of(int status, core::Instant ended) {
  Outcome outcome{.ended = ended};
  if (WIFSIGNALED(status)) {
    outcome.signal = WTERMSIG(status);
    outcome.core_dumped = WCOREDUMP(status);
    outcome.exit_status = 128 + WTERMSIG(status);
  } else {
    outcome.exit_status = WEXITSTATUS(status);
  }
  return outcome;
}

std::string sender_of(const ReceivedSignal& signal) {
  if (signal.from_kernel) return "the terminal";
  return signal.sender == 0 ? std::string("outside") : fmt::format("process {}", signal.sender);
}

}  // namespace

Supervisor::Supervisor(const Command& command, SignalInbox& inbox, Sentinel* sentinel, const core::Clock& clock,
                       Options options)
    : command_(command), inbox_(inbox), sentinel_(sentinel), clock_(clock), options_(std::move(options)) {}

Outcome Supervisor::wait() {
  for (;;) {
    reap();
    if (outcome_) break;
    if (settle_at_ && std::chrono::steady_clock::now() >= *settle_at_) settle();
    if (const auto signal = inbox_.next(settle_at_)) on_signal(*signal);
  }
  outcome_->cpu_time = cpu_time_of_children();
  outcome_->orphans_reaped = orphans_reaped_;
  return *outcome_;
}

void Supervisor::reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (WIFSTOPPED(status)) {
      if (pid == command_.pid()) on_stopped(WSTOPSIG(status));
    } else if (pid == command_.pid()) {
      outcome_ = outcome_of(status, clock_.now());
    } else if (sentinel_ != nullptr && pid == sentinel_->pid()) {
      sentinel_->forget();
    } else {
      ++orphans_reaped_;
    }
  }
}

void Supervisor::on_signal(const ReceivedSignal& signal) {
  const auto policy = policy_of(signal.number);
  if (policy != SignalPolicy::pass_on && policy != SignalPolicy::resume) return;
  if (signal.number == SIGTSTP) stop_asked_ = std::chrono::steady_clock::now();
  if (!from_the_job(signal)) pending_.push_back({signal, policy == SignalPolicy::resume});
  // Settled even when dropped: the sentinel may hold a copy that would mislead the next time.
  if (!settle_at_) settle_at_ = std::chrono::steady_clock::now() + options_.grace;
}

void Supervisor::settle() {
  settle_at_.reset();
  const auto group_signals = sentinel_ != nullptr ? sentinel_->received(files_) : std::nullopt;
  const bool same_group = ::getpgid(command_.pid()) == ::getpgrp();
  for (const auto& [signal, resume] : std::exchange(pending_, {})) {
    if (resume) {
      if (command_is_stopped()) continue_job();
      continue;
    }
    const bool went_to_group = group_signals ? contains(*group_signals, signal.number) : signal.from_kernel;
    if (!went_to_group || !same_group)
      pass_on(signal);
    else
      options_.on_event("signal",
                        fmt::format("{} from {} reached the job", signal_name(signal.number), sender_of(signal)));
  }
  if (sentinel_ != nullptr) sentinel_->clear();
}

void Supervisor::pass_on(const ReceivedSignal& signal) {
  // CMD has not been reaped, so its pid cannot have passed to another process.
  if (::kill(command_.pid(), signal.number) != 0) return;
  options_.on_event("signal",
                    fmt::format("{} from {} was passed on to the job", signal_name(signal.number), sender_of(signal)));
}

// Ctrl-Z stopped CMD's children with it: all of them must go on, not CMD alone.
void Supervisor::continue_job() {
  const auto processes = read_processes(files_);
  const std::vector<pid_t> root{command_.pid()};
  for (const pid_t pid : tree_of(processes, root))
    if (processes.at(pid).stopped()) ::kill(pid, SIGCONT);
  options_.on_event("signal", "the job was continued");
}

void Supervisor::on_stopped(int signal) {
  const bool by_terminal = std::ranges::find(kTerminalStops, signal) != kTerminalStops.end();
  const bool after_ctrl_z = stop_asked_ && std::chrono::steady_clock::now() - *stop_asked_ < kStopFollows;
  options_.on_event("stopped", fmt::format("the job was stopped by {}", signal_name(signal)));
  if (by_terminal || (signal == SIGSTOP && after_ctrl_z)) stop_self(signal);
}

void Supervisor::stop_self(int signal) {
  if (!command_is_stopped()) return;  // continued meanwhile: nobody would continue us
  // By the same signal, so that the shell says "Stopped" as it would of CMD alone. The default action spares an
  // orphaned process group, which no shell could continue.
  struct sigaction standard {
  }, before{};
  standard.sa_handler = SIG_DFL;
  sigset_t only, mask;
  ::sigemptyset(&only);
  ::sigaddset(&only, signal);
  ::sigaction(signal, &standard, &before);
  // Raised while blocked: the terminal's own copy may still wait too, and together they must stop us once, not twice.
  ::raise(signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, &mask);  // returns when someone continues us
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  ::sigaction(signal, &before, nullptr);
  stop_asked_.reset();
}

bool Supervisor::from_the_job(const ReceivedSignal& signal) const {
  // Orphans count too: they have become our children, and may signal us in the belief that we are their old parent.
  return !signal.from_kernel && signal.sender > 0 && descends_from(files_, signal.sender, ::getpid());
}

bool Supervisor::command_is_stopped() const {
  const auto process = read_process(files_, command_.pid());
  return process && process->stopped();
}

}  // namespace gradwatt::launch
