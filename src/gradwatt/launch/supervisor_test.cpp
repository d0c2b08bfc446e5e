// Real processes and a real pseudo-terminal: launch_driver is started as a shell would start gradwatt.
#include "gradwatt/launch/supervisor.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "gradwatt/launch/descriptor.hpp"
#include "gradwatt/launch/process_table.hpp"

namespace gradwatt::launch {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

template <class Condition>
bool eventually(Condition condition) {
  for (const auto end = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < end;
       std::this_thread::sleep_for(2ms))
    if (condition()) return true;
  return false;
}

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

enum class Wiring { plain, terminal, session_leader };

/// launch_driver under a script of sh, in its own process group unless said otherwise.
class SupervisorTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override {
    if (driver_ > 0 && !reaped_) {
      ::kill(-driver_, SIGKILL);
      ::kill(driver_, SIGKILL);
      ::waitpid(driver_, nullptr, 0);
    }
    std::filesystem::remove_all(folder_);
  }

  /// The script logs with: say TEXT. It runs with `read` from the terminal or /dev/null.
  void start(const std::string& script, std::vector<std::string> options = {}, Wiring wiring = Wiring::plain) {
    const auto prelude = "say() { echo \"$1\" >> " + log().string() + "; }; ";
    std::vector<std::string> words{GRADWATT_BINARY_DIR "/tests/launch_driver", "--events", events().string(),
                                   "--report", (folder_ / "report").string()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "sh", "-c", prelude + script});
    if (wiring == Wiring::terminal) take_terminal();
    if (wiring == Wiring::session_leader) open_terminal();
    driver_ = ::fork();
    if (driver_ == 0) become(words, wiring);
    if (wiring != Wiring::session_leader) ::setpgid(driver_, driver_);
  }

  [[noreturn]] void become(const std::vector<std::string>& words, Wiring wiring) const {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    if (wiring == Wiring::session_leader) {
      ::setsid();
      ::ioctl(terminal_.get(), TIOCSCTTY, 0);
    } else {
      ::setpgid(0, 0);
    }
    ::signal(SIGHUP, SIG_DFL);  // main ignores it, and a shell cannot trap what it was started ignoring
    if (wiring == Wiring::terminal) {
      ::signal(SIGTTOU, SIG_IGN);
      ::tcsetpgrp(terminal_.get(), ::getpid());
      ::signal(SIGTTOU, SIG_DFL);
    }
    if (wiring != Wiring::plain)
      for (const int file : {0, 1, 2}) ::dup2(terminal_.get(), file);
    ::execv(arguments[0], arguments.data());
    ::_exit(99);
  }

  void open_terminal() {
    int keyboard = -1, terminal = -1;
    ASSERT_EQ(::openpty(&keyboard, &terminal, nullptr, nullptr, nullptr), 0);
    keyboard_.reset(keyboard);
    terminal_.reset(terminal);
    for (const int file : {keyboard, terminal}) ::fcntl(file, F_SETFD, FD_CLOEXEC);
  }
  /// Makes it this session's terminal, as a login shell does.
  void take_terminal() {
    open_terminal();
    ASSERT_EQ(::ioctl(terminal_.get(), TIOCSCTTY, 1), 0) << "no controlling terminal";
  }
  void type(const std::string& keys) const {
    ASSERT_EQ(::write(keyboard_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  [[nodiscard]] bool logged(const std::string& text) const {
    return eventually([&] { return content(log()).find(text + "\n") != std::string::npos; });
  }
  [[nodiscard]] bool told(const std::string& text) const {
    return eventually([&] { return content(events()).find(text) != std::string::npos; });
  }
  int wait() {
    int status = 0;
    ::waitpid(driver_, &status, 0);
    reaped_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  /// What the shell's waitpid sees next of the job: the stop signal.
  int wait_for_stop() const {
    int status = 0;
    ::waitpid(driver_, &status, WUNTRACED);
    return WIFSTOPPED(status) ? WSTOPSIG(status) : -1;
  }
  [[nodiscard]] std::string report() const { return content(folder_ / "report"); }
  [[nodiscard]] std::filesystem::path log() const { return folder_ / "log"; }
  [[nodiscard]] std::filesystem::path events() const { return folder_ / "events"; }
  [[nodiscard]] pid_t command() const {
    EXPECT_TRUE(told("started "));
    return std::stoi(content(events()).substr(8));
  }

  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("gradwatt-supervisor-" + std::to_string(::getpid()));
  Descriptor keyboard_, terminal_;
  pid_t driver_ = -1;
  bool reaped_ = false;
};

// A shell that sleeps in steps, so that its traps run soon.
const std::string kWorkFor = "i=0; while [ $i -lt 600 ]; do sleep 0.1; i=$((i+1)); done";

// For tests that send several signals one after the other: the machine may be slow in between.
const std::vector<std::string> kLongGrace{"--grace-ms", "1500"};

TEST_F(SupervisorTest, PassesTheExitStatusOn) {
  for (const int status : {0, 1, 5, 255}) {
    start("exit " + std::to_string(status));
    EXPECT_EQ(wait(), status);
  }
}

TEST_F(SupervisorTest, ACommandThatCannotStartGivesTheShellsStatus) {
  for (const auto& [program, status] : {std::pair{"/no/such/program", 127}, std::pair{"/etc/passwd", 126}}) {
    driver_ = ::fork();
    if (driver_ == 0) become({GRADWATT_BINARY_DIR "/tests/launch_driver", "--", program}, Wiring::plain);
    EXPECT_EQ(wait(), status);
  }
}

TEST_F(SupervisorTest, ACommandKilledByASignalGives128PlusItsNumber) {
  start("kill -9 $$");
  EXPECT_EQ(wait(), 137);
  EXPECT_THAT(report(), HasSubstr("signal=9"));
  start("kill -SEGV $$");
  EXPECT_EQ(wait(), 139);
}

TEST_F(SupervisorTest, ATermSentToGradwattAloneIsPassedOnOnce) {
  start("trap 'say term; exit 3' TERM; say ready; " + kWorkFor);
  ASSERT_TRUE(logged("ready"));
  ::kill(driver_, SIGTERM);
  EXPECT_EQ(wait(), 3);
  EXPECT_EQ(content(log()), "ready\nterm\n");
  EXPECT_THAT(content(events()), HasSubstr("SIGTERM"));
  EXPECT_THAT(content(events()), HasSubstr("passed on"));
}

TEST_F(SupervisorTest, ATermThatWentToTheWholeGroupIsNotPassedOn) {
  start("trap 'say term' TERM; trap 'say usr; exit 4' USR1; say ready; " + kWorkFor);
  ASSERT_TRUE(logged("ready"));
  ::kill(-driver_, SIGTERM);
  ASSERT_TRUE(logged("term"));
  ASSERT_TRUE(told("reached the job"));
  ::kill(driver_, SIGUSR1);  // would come after a second SIGTERM, if there were one
  EXPECT_EQ(wait(), 4);
  EXPECT_EQ(content(log()), "ready\nterm\nusr\n");
}

TEST_F(SupervisorTest, ATermAsTimeoutSendsItReachesTheJobOnce) {
  start("trap 'say term' TERM; trap 'say usr; exit 4' USR1; say ready; " + kWorkFor, kLongGrace);
  ASSERT_TRUE(logged("ready"));
  ::kill(driver_, SIGTERM);  // timeout(1): the child first, then its group
  ::kill(-driver_, SIGTERM);
  ASSERT_TRUE(told("reached the job"));
  ::kill(driver_, SIGUSR1);
  EXPECT_EQ(wait(), 4);
  EXPECT_EQ(content(log()), "ready\nterm\nusr\n");
}

TEST_F(SupervisorTest, ATermToEachProcessAsSlurmSendsItReachesTheJobOnce) {
  start("trap 'say term' TERM; trap 'say usr; exit 4' USR1; say ready; " + kWorkFor, kLongGrace);
  ASSERT_TRUE(logged("ready"));
  const std::vector<pid_t> root{driver_};
  for (const pid_t pid : tree_of(read_processes(core::FileTree()), root)) ::kill(pid, SIGTERM);
  ASSERT_TRUE(logged("term"));
  ASSERT_TRUE(told("reached the job"));
  ::kill(driver_, SIGUSR1);
  EXPECT_EQ(wait(), 4);
  EXPECT_EQ(content(log()), "ready\nterm\nusr\n");
}

TEST_F(SupervisorTest, AfterAGroupSignalTheNextOneToGradwattAloneIsPassedOnAgain) {
  start("trap 'say term' TERM; trap 'say usr; exit 4' USR1; say ready; " + kWorkFor);
  ASSERT_TRUE(logged("ready"));
  ::kill(-driver_, SIGTERM);
  ASSERT_TRUE(told("reached the job"));
  ASSERT_TRUE(eventually([&] {
    ::kill(driver_, SIGTERM);
    return content(events()).find("SIGTERM") != std::string::npos &&
           content(events()).find("passed on") != std::string::npos;
  }));
  ::kill(driver_, SIGUSR1);
  EXPECT_EQ(wait(), 4);
}

TEST_F(SupervisorTest, WithoutASentinelASignalByKillIsPassedOn) {
  start("trap 'say term; exit 3' TERM; say ready; " + kWorkFor, {"--no-sentinel"});
  ASSERT_TRUE(logged("ready"));
  ::kill(driver_, SIGTERM);
  EXPECT_EQ(wait(), 3);
}

TEST_F(SupervisorTest, ASignalThatTheJobSendsToItsParentIsNotPassedBack) {
  start("trap 'say usr' USR1; kill -USR1 $PPID; sleep 0.3; say done; exit 6");
  EXPECT_EQ(wait(), 6);
  EXPECT_EQ(content(log()), "done\n");
}

TEST_F(SupervisorTest, SurvivesEverySignalThatAJobMaySurvive) {
  start("trap '' HUP INT QUIT TERM USR1 USR2 ALRM VTALRM PROF PIPE XCPU XFSZ IO PWR ABRT; say ready; read x < " +
        (folder_ / "gate").string() + "; exit 9");
  ::mkfifo((folder_ / "gate").c_str(), 0600);
  ASSERT_TRUE(logged("ready"));
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPIPE,
                           SIGXCPU, SIGXFSZ, SIGIO, SIGPWR, SIGABRT})
    ::kill(-driver_, signal);
  ASSERT_TRUE(told("SIGABRT"));
  std::ofstream(folder_ / "gate") << "go\n";
  EXPECT_EQ(wait(), 9);
}

TEST_F(SupervisorTest, AJobThatLeftTheGroupStillGetsTheGroupsSignals) {
  start("exec setsid sh -c 'trap \"echo int >> " + log().string() + "; exit 8\" INT; echo ready >> " + log().string() +
        "; " + kWorkFor + "'");
  ASSERT_TRUE(logged("ready"));
  ::kill(-driver_, SIGINT);
  EXPECT_EQ(wait(), 8);
}

TEST_F(SupervisorTest, OrphansAreReapedWhileTheJobRuns) {
  // The inner shell leaves a child behind, which ends before the outer one does.
  start("sh -c 'sh -c \"exit 0\" & exit 0'; sh -c '(sleep 0.05) & exit 0'; sleep 0.3");
  EXPECT_EQ(wait(), 0);
  EXPECT_THAT(report(), Not(HasSubstr("orphans=0")));
}

TEST_F(SupervisorTest, ADaemonThatTheJobLeavesBehindIsNotWaitedFor) {
  start("sh -c 'echo $$ > " + (folder_ / "daemon").string() + "; exec sleep 300' & sleep 0.2; exit 0");
  EXPECT_EQ(wait(), 0);
  const pid_t daemon = std::stoi(content(folder_ / "daemon"));
  EXPECT_EQ(::kill(daemon, 0), 0);
  ::kill(daemon, SIGKILL);
}

TEST_F(SupervisorTest, KillingGradwattLeavesTheJobRunning) {
  start("say ready; read x < " + (folder_ / "gate").string() + "; say finished");
  ::mkfifo((folder_ / "gate").c_str(), 0600);
  ASSERT_TRUE(logged("ready"));
  ::kill(driver_, SIGKILL);
  EXPECT_EQ(wait(), 1000 + SIGKILL);
  std::ofstream(folder_ / "gate") << "go\n";
  EXPECT_TRUE(logged("finished"));
}

TEST_F(SupervisorTest, APlainStopOfTheJobAloneDoesNotStopGradwatt) {
  start("trap 'exit 3' TERM; say ready; " + kWorkFor);
  ASSERT_TRUE(logged("ready"));
  ::kill(command(), SIGSTOP);
  ASSERT_TRUE(told("stopped by SIGSTOP"));
  ::kill(driver_, SIGTERM);
  ASSERT_TRUE(told("passed on"));
  EXPECT_FALSE(read_process(core::FileTree(), driver_)->stopped());
  ::kill(command(), SIGCONT);
  EXPECT_EQ(wait(), 3);
}

class TerminalTest : public SupervisorTest {};

TEST_F(TerminalTest, CtrlCReachesTheJobOnceAndGradwattReports130) {
  start("trap 'say int; trap - INT; kill -INT $$' INT; say ready; " + kWorkFor, {}, Wiring::terminal);
  ASSERT_TRUE(logged("ready"));
  type("\x03");
  EXPECT_EQ(wait(), 130);
  EXPECT_EQ(content(log()), "ready\nint\n");
  EXPECT_THAT(report(), HasSubstr("status=130 signal=2"));
}

TEST_F(TerminalTest, AJobThatSurvivesCtrlCGetsItOnce) {
  start("trap 'say int' INT; trap 'say usr; exit 4' USR1; say ready; " + kWorkFor, {}, Wiring::terminal);
  ASSERT_TRUE(logged("ready"));
  type("\x03");
  ASSERT_TRUE(logged("int"));
  ASSERT_TRUE(told("SIGINT from the terminal reached the job"));
  ::kill(driver_, SIGUSR1);
  EXPECT_EQ(wait(), 4);
  EXPECT_EQ(occurrences(content(log()), "int"), 1U);
}

TEST_F(TerminalTest, CtrlZStopsTheJobForTheShellAndForegroundContinuesIt) {
  start("say ready; read x; say \"got $x\"; exit 5", {}, Wiring::terminal);
  ASSERT_TRUE(logged("ready"));
  type("\x1a");
  EXPECT_EQ(wait_for_stop(), SIGTSTP);
  EXPECT_TRUE(read_process(core::FileTree(), command())->stopped());
  ::kill(-driver_, SIGCONT);  // the shell's fg
  type("hello\n");
  EXPECT_EQ(wait(), 5);
  EXPECT_TRUE(logged("got hello"));
}

TEST_F(TerminalTest, ContinuingGradwattAloneContinuesTheJobAndItsChildren) {
  // No command is started around the stop: a child of vfork that stops before exec holds its parent, which then cannot
  // stop.
  start("(say ready; read x; say \"got $x\"; exit 5); exit $?", {}, Wiring::terminal);
  ASSERT_TRUE(logged("ready"));
  type("\x1a");
  EXPECT_EQ(wait_for_stop(), SIGTSTP);
  ::kill(driver_, SIGCONT);
  type("go\n");
  EXPECT_EQ(wait(), 5);
  EXPECT_TRUE(logged("got go"));
}

TEST_F(TerminalTest, APromptReadsWhatIsTyped) {
  start("stty -echo < /dev/tty; say ready; read x < /dev/tty; say \"got $x\"; test -t 0 && test -t 1 && test -t 2", {},
        Wiring::terminal);
  ASSERT_TRUE(logged("ready"));
  type("secret\n");
  EXPECT_EQ(wait(), 0);
  EXPECT_TRUE(logged("got secret"));
}

TEST_F(TerminalTest, ATerminalThatHangsUpReachesTheJobAndTheReportIsStillMade) {
  start("trap 'say hup; exit 7' HUP; say ready; " + kWorkFor, {}, Wiring::terminal);
  ASSERT_TRUE(logged("ready"));
  ::kill(-driver_, SIGHUP);  // as the shell does to its jobs
  keyboard_.reset();
  EXPECT_EQ(wait(), 7);
  EXPECT_EQ(content(log()), "ready\nhup\n");
  EXPECT_THAT(report(), HasSubstr("status=7"));
}

TEST_F(TerminalTest, AHangUpThatOnlyTheSessionLeaderHearsIsPassedOn) {
  // As under `ssh -t host gradwatt run`: gradwatt leads the session, and the kernel tells its leader alone.
  start("trap 'say hup; exit 7' HUP; say ready; " + kWorkFor, {}, Wiring::session_leader);
  ASSERT_TRUE(logged("ready"));
  keyboard_.reset();
  EXPECT_EQ(wait(), 7);
  EXPECT_EQ(content(log()), "ready\nhup\n");
  EXPECT_THAT(content(events()), HasSubstr("SIGHUP from the terminal was passed on"));
}

}  // namespace
}  // namespace gradwatt::launch

// Leads a session of its own from the start, so that a test can take a terminal; SIGHUP of a closed terminal is not for
// it.
int main(int count, char** texts) {
  if (::getsid(0) != ::getpid() && ::setsid() < 0) {
    const pid_t child = ::fork();
    if (child != 0) {
      int status = 0;
      ::waitpid(child, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    }
    ::setsid();
  }
  ::signal(SIGHUP, SIG_IGN);
  ::testing::InitGoogleTest(&count, texts);
  return RUN_ALL_TESTS();
}
