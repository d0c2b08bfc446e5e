#include "gradwatt/launch/attach.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gradwatt/launch/signal_table.hpp"

namespace gradwatt::launch {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A made /proc: trees, environments and open files.
class AttachTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(root_); }
  void process(pid_t pid, pid_t parent, const std::string& environment, const std::vector<std::string>& files,
               char state = 'S') {
    const auto folder = root_ / "proc" / std::to_string(pid);
    std::filesystem::create_directories(folder / "fd");
    std::ofstream(folder / "stat") << pid << " (python3) " << state << ' ' << parent
                                   << " 7 7 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 " << 100 + pid << " 1 1 0\n";
    std::ofstream(folder / "environ") << environment;
    std::ofstream(folder / "cmdline") << std::string("python3\0train.py\0", 17);
    for (std::size_t i = 0; i < files.size(); ++i)
      std::filesystem::create_symlink(files[i], folder / "fd" / std::to_string(i));
  }
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("gradwatt-attach-" + std::to_string(::getpid()));
  core::FileTree files_{root_};
};

const std::string kNul(1, '\0');

TEST_F(AttachTest, FindsTheGpusThatTheWholeTreeHoldsOpen) {
  process(10, 1, "HOME=/x" + kNul, {"/dev/null"});
  process(11, 10, "", {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia3", "/dev/nvidia3", "pipe:[1]"});
  process(12, 11, "", {"/dev/nvidia0"});
  process(20, 1, "", {"/dev/nvidia7"});
  const auto gpus = find_gpus(files_, 10);
  EXPECT_THAT(gpus.minors, ElementsAre(0, 3));
  EXPECT_THAT(gpus.visible, IsEmpty());
}

TEST_F(AttachTest, FindsWhatTheProcessesWereRestrictedTo) {
  process(10, 1, "A=1" + kNul + "CUDA_VISIBLE_DEVICES=0,1" + kNul, {});
  process(11, 10, "CUDA_VISIBLE_DEVICES=GPU-5f" + kNul, {});
  process(12, 10, "CUDA_VISIBLE_DEVICES=0,1" + kNul, {});
  EXPECT_THAT(find_gpus(files_, 10).visible, ElementsAre("0,1", "GPU-5f"));
}

TEST_F(AttachTest, TheScopeFollowsOnlyChanges) {
  telemetry::JobScope scope;
  EXPECT_TRUE(follow_tree({}, 10, scope));
  EXPECT_TRUE(scope.snapshot()->all_gpus) << "nothing known yet: it may open any";
  EXPECT_FALSE(follow_tree({}, 10, scope));
  EXPECT_TRUE(follow_tree({.visible = {"0,1"}, .minors = {2}}, 10, scope));
  EXPECT_FALSE(scope.snapshot()->all_gpus);
  EXPECT_THAT(scope.snapshot()->gpu_minors, ElementsAre(2));
  EXPECT_THAT(scope.snapshot()->roots, ElementsAre(10));
}

TEST_F(AttachTest, SaysWhatItFollows) {
  process(10, 1, "", {});
  const auto attached = Attached::open(files_, 10);
  ASSERT_TRUE(attached);
  EXPECT_EQ(attached->name(), "python3");
  EXPECT_THAT(attached->command_line(), ElementsAre("python3", "train.py"));
  EXPECT_FALSE(attached->ended());
}

TEST_F(AttachTest, AnotherProcessWithTheSamePidIsNotTheOne) {
  process(10, 1, "", {});
  const auto attached = Attached::open(files_, 10).value();
  std::ofstream(root_ / "proc/10/stat") << "10 (other) S 1 7 7 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 99999 1 1 0\n";
  EXPECT_TRUE(attached.ended());
}

TEST_F(AttachTest, RefusesWhatIsNotThere) {
  process(11, 1, "", {}, 'Z');
  EXPECT_EQ(Attached::open(files_, 10).error().code, core::Errc::not_found);
  EXPECT_EQ(Attached::open(files_, 11).error().code, core::Errc::not_found);
  EXPECT_EQ(Attached::open(files_, 0).error().code, core::Errc::wrong_use);
  EXPECT_EQ(Attached::open(files_, -4).error().code, core::Errc::wrong_use);
}

TEST(Attach, AnotherUsersProcessIsRefusedWithTheWayOut) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user to look from";
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(3);
    const auto attached = Attached::open(core::FileTree(), 1);
    ::_exit(!attached && attached.error().code == core::Errc::not_permitted &&
                    attached.error().message.find("--node") != std::string::npos
                ? 0
                : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

class WaitForEndTest : public ::testing::Test {
 protected:
  SignalInbox inbox_{ending_signals()};
};

TEST_F(WaitForEndTest, EndsWithTheProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto attached = Attached::open(core::FileTree(), child).value();
  EXPECT_GE(attached.descriptor(), 0);
  ::kill(child, SIGKILL);
  EXPECT_EQ(wait_for_end(&attached, inbox_, std::nullopt), EndOfMeasurement::process_ended);
  ::waitpid(child, nullptr, 0);
}

TEST_F(WaitForEndTest, EndsWithTheTime) {
  EXPECT_EQ(wait_for_end(nullptr, inbox_, std::chrono::steady_clock::now() + 20ms), EndOfMeasurement::time_over);
}

TEST_F(WaitForEndTest, EndsAtCtrlCButNotAtABrokenPipe) {
  ::kill(::getpid(), SIGPIPE);
  EXPECT_EQ(wait_for_end(nullptr, inbox_, std::chrono::steady_clock::now()), EndOfMeasurement::time_over);
  ::kill(::getpid(), SIGINT);
  EXPECT_EQ(wait_for_end(nullptr, inbox_, std::nullopt), EndOfMeasurement::interrupted);
}

TEST_F(WaitForEndTest, CallsBackOnceASecond) {
  int calls = 0;
  EXPECT_EQ(wait_for_end(nullptr, inbox_, std::chrono::steady_clock::now() + 1100ms, [&] { ++calls; }),
            EndOfMeasurement::time_over);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace gradwatt::launch
