#include "gradwatt/backends/proc/process_tree.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "tests/doubles/hand_clock.hpp"
#include "tests/doubles/made_process.hpp"

namespace gradwatt::proc {
namespace {

using namespace std::chrono_literals;
using doubles::bury;
using doubles::put;
using doubles::put_io;
using doubles::put_newest_pid;

class ProcessTreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    put_newest_pid(made_, 1000);
    made_.folder("proc");
  }
  /// The job's command was started: its processes are new to the tree.
  void start(const std::vector<pid_t>& roots) {
    put_newest_pid(made_, 1001);
    tree_.set_roots(roots);
  }
  /// A tick a second later, with the work between the ticks done.
  ProcessTree::Totals tick() {
    clock_.advance(1s);
    tree_.update();
    while (tree_.behind()) tree_.catch_up();
    return tree_.totals().value();
  }
  doubles::MadeTree made_;
  doubles::HandClock clock_;
  ProcessTree tree_{made_.tree(), clock_, 1ms};
};

TEST_F(ProcessTreeTest, SumsRootsAndAllDescendantsAndNobodyElse) {
  put(made_, {.pid = 10, .parent = 1, .own_ticks = 5, .threads = 2, .resident_pages = 100});
  put(made_, {.pid = 11, .parent = 10, .own_ticks = 7, .threads = 3, .resident_pages = 200});
  put(made_, {.pid = 9, .parent = 11, .own_ticks = 1});  // a grandchild with a smaller pid: pids wrap
  put(made_, {.pid = 12, .parent = 1, .own_ticks = 1000});
  start({10});
  const auto totals = tick();
  EXPECT_EQ(totals.cpu_ticks, 13);
  EXPECT_EQ(totals.processes, 3);
  EXPECT_EQ(totals.threads, 6);
  EXPECT_EQ(totals.resident_pages, 310);
}

TEST_F(ProcessTreeTest, AChildThatWasWaitedForCountsOnce) {
  put(made_, {.pid = 10, .own_ticks = 5});
  put(made_, {.pid = 11, .parent = 10, .own_ticks = 70});
  start({10});
  EXPECT_EQ(tick().cpu_ticks, 75);
  bury(made_, 11);
  put(made_, {.pid = 10, .own_ticks = 6, .reaped_ticks = 72});  // it ran two ticks more before it ended
  EXPECT_EQ(tick().cpu_ticks, 78);
  EXPECT_EQ(tick().cpu_ticks, 78);
}

TEST_F(ProcessTreeTest, AChildThatNobodyWaitedForKeepsItsTime) {
  put(made_, {.pid = 10, .own_ticks = 5});
  put(made_, {.pid = 11, .parent = 10, .own_ticks = 70});
  start({10});
  tick();
  bury(made_, 11);
  EXPECT_EQ(tick().cpu_ticks, 75);
}

TEST_F(ProcessTreeTest, AChildThatLivedBetweenTwoReadingsIsSeenThroughItsParent) {
  put(made_, {.pid = 10, .own_ticks = 5});
  start({10});
  tick();
  put(made_, {.pid = 10, .own_ticks = 5, .reaped_ticks = 40});
  EXPECT_EQ(tick().cpu_ticks, 45);
}

TEST_F(ProcessTreeTest, AFamilyThatEndsTogetherMovesUpToTheGrandparent) {
  put(made_, {.pid = 10, .own_ticks = 1});
  put(made_, {.pid = 11, .parent = 10, .own_ticks = 20});
  put(made_, {.pid = 12, .parent = 11, .own_ticks = 300});
  start({10});
  EXPECT_EQ(tick().cpu_ticks, 321);
  bury(made_, 11);
  bury(made_, 12);
  put(made_, {.pid = 10, .own_ticks = 1, .reaped_ticks = 320});
  EXPECT_EQ(tick().cpu_ticks, 321);
}

TEST_F(ProcessTreeTest, ManyChildrenThatEndAtOnceAreMatchedWithOneReadingOfTheirParent) {
  put(made_, {.pid = 10});
  for (pid_t pid = 11; pid < 51; ++pid) put(made_, {.pid = pid, .parent = 10, .own_ticks = 10});
  start({10});
  EXPECT_EQ(tick().cpu_ticks, 400);
  for (pid_t pid = 11; pid < 51; ++pid) bury(made_, pid);
  put(made_, {.pid = 10, .reaped_ticks = 300});  // ten of them were not waited for
  put_newest_pid(made_, 1002);
  EXPECT_EQ(tick().cpu_ticks, 400);
  EXPECT_EQ(tick().cpu_ticks, 400);
}

TEST_F(ProcessTreeTest, TheTotalStaysWhenTheWholeJobHasEnded) {
  put(made_, {.pid = 10, .own_ticks = 50});
  put(made_, {.pid = 11, .parent = 10, .own_ticks = 50});
  start({10});
  tick();
  bury(made_, 10);
  bury(made_, 11);
  const auto totals = tick();
  EXPECT_EQ(totals.cpu_ticks, 100);
  EXPECT_EQ(totals.processes, 0);
}

TEST_F(ProcessTreeTest, AZombieCountsNoMoreButItsTimeDoes) {
  put(made_, {.pid = 10, .own_ticks = 50});
  put(made_, {.pid = 11, .parent = 10, .own_ticks = 50, .state = 'Z'});
  start({10});
  const auto totals = tick();
  EXPECT_EQ(totals.cpu_ticks, 100);
  EXPECT_EQ(totals.processes, 1);
}

TEST_F(ProcessTreeTest, APidThatWasGivenOutAgainIsAnotherProcess) {
  put(made_, {.pid = 10, .own_ticks = 50});
  put(made_, {.pid = 11, .parent = 10, .own_ticks = 30});
  start({10});
  tick();
  put(made_, {.pid = 11, .parent = 1, .own_ticks = 9000, .start_ticks = 777});
  EXPECT_EQ(tick().cpu_ticks, 80);
}

TEST_F(ProcessTreeTest, AParentReadBeforeItsChildsEndWasNoticedDoesNotCountItTwice) {
  // Two looks at the clock fit one process a tick, so that a round takes two ticks.
  put(made_, {.pid = 10, .own_ticks = 0});
  put(made_, {.pid = 11, .parent = 10, .own_ticks = 70});
  start({10});
  tick();
  clock_.step_at_each_look(2ms);
  bury(made_, 11);
  put(made_, {.pid = 10, .own_ticks = 0, .reaped_ticks = 70});
  std::int64_t last = 0;
  for (int i = 0; i < 8; ++i) {
    const auto now = tick().cpu_ticks;
    EXPECT_GE(now, last);
    last = now;
  }
  // While the round was half done the child was in both books; the published figure waits until it is true again.
  put(made_, {.pid = 10, .own_ticks = 200, .reaped_ticks = 70});
  for (int i = 0; i < 4; ++i) last = tick().cpu_ticks;
  EXPECT_EQ(last, 270);
}

TEST_F(ProcessTreeTest, NewProcessesAreLookedForOnlyWhenTheKernelGaveOutNewPids) {
  put(made_, {.pid = 10});
  start({10});
  EXPECT_EQ(tick().processes, 1);
  put(made_, {.pid = 11, .parent = 10});
  EXPECT_EQ(tick().processes, 1) << "no new pid was given out, so nobody looked";
  put_newest_pid(made_, 1002);
  EXPECT_EQ(tick().processes, 2);
}

TEST_F(ProcessTreeTest, ARankThatRegistersLaterIsAdded) {
  put(made_, {.pid = 10, .own_ticks = 5});
  put(made_, {.pid = 20, .own_ticks = 6});
  start({10});
  EXPECT_EQ(tick().cpu_ticks, 5);
  tree_.set_roots({10, 20});
  EXPECT_EQ(tick().cpu_ticks, 11);
}

TEST_F(ProcessTreeTest, StorageBytesFollowTheSameRule) {
  put(made_, {.pid = 10});
  put_io(made_, 10, 1000, 10);
  put(made_, {.pid = 11, .parent = 10});
  put_io(made_, 11, 500, 5);
  start({10});
  EXPECT_EQ(tick().read_bytes, 1500);
  bury(made_, 11);
  put_io(made_, 10, 1500, 15);  // the kernel adds what the child had
  const auto totals = tick();
  EXPECT_EQ(totals.read_bytes, 1500);
  EXPECT_EQ(totals.written_bytes, 15);
}

TEST_F(ProcessTreeTest, WithoutRightsStorageBytesAreMissingAndNotZero) {
  put(made_, {.pid = 10, .own_ticks = 3});
  start({10});
  const auto totals = tick();
  EXPECT_EQ(totals.cpu_ticks, 3);
  EXPECT_FALSE(totals.read_bytes);
}

TEST_F(ProcessTreeTest, AStatFileOfGarbageIsAProcessThatIsGoneAndNothingBreaks) {
  put(made_, {.pid = 10, .own_ticks = 3});
  put(made_, {.pid = 11, .parent = 10, .own_ticks = 4});
  start({10});
  tick();
  made_.file("proc/11/stat", "###");
  EXPECT_EQ(tick().cpu_ticks, 7);
}

TEST_F(ProcessTreeTest, ALargeJobIsCountedWholeOrNotYet) {
  put(made_, {.pid = 10, .own_ticks = 1});
  for (pid_t pid = 11; pid < 211; ++pid) put(made_, {.pid = pid, .parent = 10, .own_ticks = 1});
  clock_.step_at_each_look(100us);  // about ten processes a piece
  start({10});
  int pieces = 0;
  for (; tree_.behind(); ++pieces) {
    EXPECT_FALSE(tree_.totals());
    tree_.catch_up();
  }
  EXPECT_GT(pieces, 20);
  ASSERT_TRUE(tree_.totals());
  EXPECT_EQ(tree_.totals()->processes, 201);
  EXPECT_EQ(tree_.totals()->cpu_ticks, 201);
}

TEST_F(ProcessTreeTest, NewProcessesJoinAllAtOnce) {
  put(made_, {.pid = 10, .own_ticks = 1});
  start({10});
  EXPECT_EQ(tick().processes, 1);
  for (pid_t pid = 11; pid < 111; ++pid) put(made_, {.pid = pid, .parent = 10, .own_ticks = 1});
  put_newest_pid(made_, 1002);
  clock_.advance(10s);
  clock_.step_at_each_look(100us);
  for (tree_.update(); tree_.behind(); tree_.catch_up()) EXPECT_EQ(tree_.totals()->processes, 1);
  EXPECT_EQ(tree_.totals()->processes, 101);
}

TEST_F(ProcessTreeTest, ManyProcessesAreReadInTurnWithinTheBudget) {
  put(made_, {.pid = 10});
  for (pid_t pid = 11; pid < 211; ++pid) put(made_, {.pid = pid, .parent = 10, .own_ticks = 1});
  start({10});
  tick();
  for (pid_t pid = 11; pid < 211; ++pid) put(made_, {.pid = pid, .parent = 10, .own_ticks = 2});
  clock_.step_at_each_look(100us);
  EXPECT_LT(tick().cpu_ticks, 250);
  std::int64_t ticks = 0;
  for (int i = 0; i < 40; ++i) ticks = tick().cpu_ticks;
  EXPECT_EQ(ticks, 400);
}

void burn_cpu(double seconds) {
  rusage used{};
  do {
    volatile double x = 1;
    for (int i = 0; i < 100'000; ++i) x = x * 1.0000001;
    ::getrusage(RUSAGE_SELF, &used);
  } while (static_cast<double>(used.ru_utime.tv_sec) + 1e-6 * static_cast<double>(used.ru_utime.tv_usec) < seconds);
}

/// Two generations burn a known time, are waited for, and the kernel's own account of them is the yardstick.
TEST(RealProcesses, CpuTimeAgreesWithTheKernelsAccount) {
  std::array<int, 2> go{}, ready{};
  ASSERT_EQ(::pipe(go.data()), 0);
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t root = ::fork();
  if (root == 0) {
    ::close(go[1]);
    for (int i = 0; i < 3; ++i) {
      if (::fork() == 0) {
        burn_cpu(0.1);
        ::_exit(0);
      }
    }
    while (::wait(nullptr) > 0) {
    }
    burn_cpu(0.05);
    char byte = 'r';
    if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
    [[maybe_unused]] const auto got = ::read(go[0], &byte, 1);  // stays until the test has looked
    ::_exit(0);
  }
  ::close(go[0]);
  core::SystemClock clock;
  ProcessTree tree(core::FileTree{}, clock, std::chrono::milliseconds(500));
  const auto update = [&] {
    tree.update();
    while (tree.behind()) tree.catch_up();
  };
  tree.set_roots({root});
  update();
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  update();
  ::close(go[1]);
  rusage account{};
  ASSERT_EQ(::wait4(root, nullptr, 0, &account), root);
  update();
  const double ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const double seen_s = static_cast<double>(tree.totals().value().cpu_ticks) / ticks_per_s;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  const double truth_s = seconds(account.ru_utime) + seconds(account.ru_stime);
  EXPECT_GT(truth_s, 0.3);
  // Each of four processes is rounded to ticks twice (user, system).
  EXPECT_NEAR(seen_s, truth_s, 9 / ticks_per_s);
}

}  // namespace
}  // namespace gradwatt::proc
