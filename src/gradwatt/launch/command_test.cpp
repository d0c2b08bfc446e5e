#include "gradwatt/launch/command.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gradwatt/launch/signal_inbox.hpp"
#include "gradwatt/launch/signal_table.hpp"

namespace gradwatt::launch {
namespace {

class CommandTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text, mode_t mode) {
    const auto path = folder_ / name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path.string();
  }
  core::Result<Command> start(std::vector<std::string> arguments, Environment environment = current_environment(),
                              const SignalState& signals = SignalState::current()) {
    return Command::start({std::move(arguments), std::move(environment), signals}, clock_);
  }
  /// Exit status of a shell script run as CMD.
  int status_of(const std::string& script, Environment environment = current_environment()) {
    const auto command = start({"sh", "-c", script}, std::move(environment));
    return command ? wait_for(*command) : -1;
  }
  static int wait_for(const Command& command) {
    int status = 0;
    ::waitpid(command.pid(), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  core::SystemClock clock_;
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("gradwatt-command-" + std::to_string(::getpid()));
};

TEST_F(CommandTest, RunsAProgramFoundInThePath) { EXPECT_EQ(status_of("exit 5"), 5); }

TEST_F(CommandTest, GetsTheEnvironmentItWasGiven) {
  EXPECT_EQ(status_of("test \"$GRADWATT_X\" = 'a b' && test -z \"$HOME\"", {"PATH=/bin:/usr/bin", "GRADWATT_X=a b"}),
            0);
}

TEST_F(CommandTest, AMissingCommandIs127AndTheMessageNamesIt) {
  const auto command = start({"no-such-command-here"});
  ASSERT_FALSE(command);
  EXPECT_EQ(start_failure_status(command.error()), 127);
  EXPECT_NE(command.error().message.find("no-such-command-here"), std::string::npos);
  EXPECT_EQ(start_failure_status(start({(folder_ / "nothing").string()}).error()), 127);
  EXPECT_EQ(start_failure_status(start({""}).error()), 127);
}

TEST_F(CommandTest, AFileThatIsNotExecutableIs126) {
  const auto command = start({file("data.txt", "hello", 0644)});
  ASSERT_FALSE(command);
  EXPECT_EQ(start_failure_status(command.error()), 126);
  EXPECT_NE(command.error().message.find("chmod +x"), std::string::npos);
}

TEST_F(CommandTest, AFolderIs126) {
  const auto command = start({folder_.string()});
  ASSERT_FALSE(command);
  EXPECT_EQ(start_failure_status(command.error()), 126);
  EXPECT_NE(command.error().message.find("folder"), std::string::npos);
}

TEST_F(CommandTest, AScriptWhoseInterpreterIsMissingIs126AndSaysSo) {
  const auto command = start({file("script", "#!/no/such/interpreter\n", 0755)});
  ASSERT_FALSE(command);
  EXPECT_EQ(start_failure_status(command.error()), 126);
  EXPECT_NE(command.error().message.find("interpreter"), std::string::npos);
}

TEST_F(CommandTest, AScriptWithoutAFirstLineIsRunByTheShellAsUsersExpect) {
  const auto command = start({file("plain", "exit 7\n", 0755)});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(wait_for(*command), 7);
}

TEST_F(CommandTest, NothingToStartIsWrongUse) { EXPECT_EQ(start({}).error().code, core::Errc::wrong_use); }

TEST_F(CommandTest, StaysInGradwattsProcessGroup) {
  EXPECT_EQ(status_of("set -- $(cut -d')' -f2 /proc/$$/stat); test $3 = " + std::to_string(::getpgrp())), 0);
}

// Asked of grep itself: shells put masks in order for their children.
TEST_F(CommandTest, SignalsThatGradwattBlocksAreNotBlockedInTheCommand) {
  const SignalInbox inbox(supervised_signals());
  const std::vector<std::string> unblocked{"grep", "-q", "^SigBlk:[[:space:]]*0000000000000000$", "/proc/self/status"};
  EXPECT_EQ(wait_for(start(unblocked, current_environment(), inbox.before()).value()), 0);
  EXPECT_EQ(wait_for(start(unblocked, current_environment(), SignalState::current()).value()), 1)
      << "the check itself must see blocked signals";
}

TEST_F(CommandTest, WhatWasIgnoredAtTheStartStaysIgnoredAndNothingElse) {
  const auto hup_before = ::signal(SIGHUP, SIG_IGN);
  const auto child_before = ::signal(SIGCHLD, SIG_IGN);
  {
    const SignalInbox inbox(supervised_signals());        // puts SIGCHLD to its default for itself
    const auto pipe_before = ::signal(SIGPIPE, SIG_IGN);  // a part of gradwatt does so later
    const std::vector<std::string> hup_and_child{"grep", "-q", "^SigIgn:[[:space:]]*0000000000010001$",
                                                 "/proc/self/status"};
    EXPECT_EQ(wait_for(start(hup_and_child, current_environment(), inbox.before()).value()), 0);
    ::signal(SIGPIPE, pipe_before);
  }
  ::signal(SIGCHLD, child_before);
  ::signal(SIGHUP, hup_before);
}

TEST_F(CommandTest, DescriptorsThatGradwattInheritedReachItAndItsOwnDoNot) {
  const Descriptor inherited(::open("/dev/null", O_RDONLY));
  const Descriptor own(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const SignalInbox inbox(supervised_signals());
  EXPECT_EQ(status_of("test -e /proc/self/fd/" + std::to_string(inherited.get())), 0);
  EXPECT_NE(status_of("test -e /proc/self/fd/" + std::to_string(own.get())), 0);
  EXPECT_NE(status_of("test -e /proc/self/fd/" + std::to_string(inbox.descriptor())), 0);
}

}  // namespace
}  // namespace gradwatt::launch
