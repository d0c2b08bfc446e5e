#include "gradwatt/backends/proc/thread_census.hpp"

#include <gtest/gtest.h>

#include "tests/doubles/hand_clock.hpp"
#include "tests/doubles/made_process.hpp"

namespace gradwatt::proc {
namespace {

using namespace std::chrono_literals;

class ThreadCensusTest : public ::testing::Test {
 protected:
  void program(pid_t pid, const std::string& name, const std::string& command) {
    const auto folder = "proc/" + std::to_string(pid);
    made_.file(folder + "/comm", name).file(folder + "/cmdline", command);
  }
  ThreadCensus::Counts take(std::vector<std::pair<pid_t, pid_t>> processes) {
    census_.begin(std::move(processes));
    return census_.advance(1s).value();
  }
  doubles::MadeTree made_;
  doubles::HandClock clock_;
  ThreadCensus census_{made_.tree(), clock_};
};

TEST_F(ThreadCensusTest, CountsThreadsByWhatTheyDo) {
  doubles::put_thread(made_, 10, 10, 'S', 100);
  doubles::put_thread(made_, 10, 11, 'R', 200);
  doubles::put_thread(made_, 20, 20, 'D', 300);
  doubles::put_thread(made_, 20, 21, 'Z', 900);
  const auto counts = take({{10, 1}, {20, 10}});
  EXPECT_EQ(counts.sleeping, 1);
  EXPECT_EQ(counts.running, 1);
  EXPECT_EQ(counts.blocked, 1);
  EXPECT_EQ(counts.cpu_wait_ns, 600);
}

TEST_F(ThreadCensusTest, WaitingTimeOfEndedThreadsStays) {
  doubles::put_thread(made_, 10, 10, 'S', 100);
  doubles::put_thread(made_, 10, 11, 'R', 200);
  EXPECT_EQ(take({{10, 1}}).cpu_wait_ns, 300);
  made_.remove("proc/10/task/11");
  EXPECT_EQ(take({{10, 1}}).cpu_wait_ns, 300);
  doubles::put_thread(made_, 10, 11, 'R', 50);  // the id again, another thread
  EXPECT_EQ(take({{10, 1}}).cpu_wait_ns, 350);
}

TEST_F(ThreadCensusTest, WithoutSchedstatTheWaitIsMissing) {
  made_.file("proc/10/task/10/stat", doubles::stat_line({.pid = 10}));
  EXPECT_FALSE(take({{10, 1}}).cpu_wait_ns);
}

TEST_F(ThreadCensusTest, ForkedPythonTwinsAndNamedWorkersAreDataLoaderWorkers) {
  program(10, "python3", "python3\ntrain.py");
  program(11, "python3", "python3\ntrain.py");
  program(12, "pt_data_worker", "python3\ntrain.py");
  program(13, "python3", "python3\n-c\nfrom multiprocessing.resource_tracker import main");
  program(14, "bash", "python3\ntrain.py");
  EXPECT_EQ(take({{10, 1}, {11, 10}, {12, 10}, {13, 10}, {14, 10}}).workers, 2);
}

TEST_F(ThreadCensusTest, CpusOfBusyThreadsAreCountedOnceEach) {
  const auto thread = [&](pid_t id, long ticks, int cpu) {
    made_.file("proc/10/task/" + std::to_string(id) + "/stat",
               doubles::stat_line({.pid = id, .own_ticks = ticks, .cpu = cpu}));
  };
  for (const pid_t id : {10, 11, 12}) thread(id, 0, 0);
  take({{10, 1}});
  EXPECT_EQ(census_.cpus_used(), 0) << "nothing is known of the time before";
  clock_.advance(10s);
  thread(10, 900, 3);
  thread(11, 900, 3);
  thread(12, 5, 7);  // hardly runs
  take({{10, 1}});
  EXPECT_EQ(census_.cpus_used(), 1);
  clock_.advance(10s);
  thread(10, 1800, 4);
  take({{10, 1}});
  EXPECT_EQ(census_.cpus_used(), 2);
}

TEST_F(ThreadCensusTest, WaitsOfNcclsOwnThreadsAreToldApart) {
  const auto thread = [&](pid_t id, const std::string& name, const std::string& times) {
    const auto folder = "proc/10/task/" + std::to_string(id);
    made_.file(folder + "/stat", doubles::stat_line({.pid = id, .name = name})).file(folder + "/schedstat", times);
  };
  thread(10, "python3", "900 900 1");
  take({{10, 1}});
  EXPECT_FALSE(census_.nccl_wait_share());
  thread(11, "NCCL Progress 0", "500 300 1");
  thread(12, "NCCL Service 1", "100 100 1");
  take({{10, 1}});
  EXPECT_DOUBLE_EQ(census_.nccl_wait_share().value(), 0.4);
}

TEST_F(ThreadCensusTest, AProcessThatIsGoneIsSkipped) {
  doubles::put_thread(made_, 10, 10, 'S', 1);
  EXPECT_EQ(take({{9, 1}, {10, 1}}).sleeping, 1);
}

TEST_F(ThreadCensusTest, ALongCensusIsTakenInPieces) {
  for (pid_t pid = 10; pid < 20; ++pid) doubles::put_thread(made_, pid, pid, 'S', 1);
  std::vector<std::pair<pid_t, pid_t>> processes;
  for (pid_t pid = 10; pid < 20; ++pid) processes.emplace_back(pid, 1);
  clock_.step_at_each_look(1ms);
  census_.begin(processes);
  int pieces = 1;
  auto counts = census_.advance(2ms);
  for (; !counts && pieces < 20; ++pieces) counts = census_.advance(2ms);
  ASSERT_TRUE(counts);
  EXPECT_GT(pieces, 3);
  EXPECT_EQ(counts->sleeping, 10);
  EXPECT_FALSE(census_.under_way());
}

}  // namespace
}  // namespace gradwatt::proc
