#include "gradwatt/launch/signal_table.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gradwatt::launch {
namespace {

TEST(SignalTable, NamesEachSignalOnce) {
  std::set<int> numbers;
  for (const auto& rule : signal_table()) {
    EXPECT_TRUE(numbers.insert(rule.number).second) << rule.name;
    EXPECT_EQ(rule.name.substr(0, 3), "SIG");
    EXPECT_EQ(signal_name(rule.number), rule.name);
  }
}

TEST(SignalTable, SurvivesWhatEndsAJobAndLeavesCrashesAlone) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGTSTP, SIGRTMIN, SIGRTMAX})
    EXPECT_EQ(policy_of(signal), SignalPolicy::pass_on) << signal;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGKILL, SIGSTOP})
    EXPECT_EQ(policy_of(signal), SignalPolicy::leave_be) << signal;
}

TEST(SignalTable, TheSupervisedSetHoldsExactlyTheSignalsWithAPolicy) {
  const auto set = supervised_signals();
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (signal >= 32 && signal < SIGRTMIN) continue;  // the C library's own
    EXPECT_EQ(::sigismember(&set, signal) == 1, policy_of(signal) != SignalPolicy::leave_be) << signal;
  }
}

TEST(SignalTable, CtrlZKeepsItsMeaningWhenNoCommandRuns) {
  const auto set = ending_signals();
  EXPECT_EQ(::sigismember(&set, SIGTSTP), 0);
  EXPECT_EQ(::sigismember(&set, SIGINT), 1);
}

TEST(SignalTable, UnlistedSignalsHaveANameToo) {
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
  EXPECT_EQ(signal_name(SIGRTMIN + 2), "SIGRTMIN+2");
  EXPECT_EQ(signal_name(99), "signal 99");
}

}  // namespace
}  // namespace gradwatt::launch
