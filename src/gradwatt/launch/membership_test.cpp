// One run, several processes: launch_driver plays the gradwatts that a launcher starts.
#include "gradwatt/launch/membership.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace gradwatt::launch {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Condition>
bool eventually(Condition condition) {
  for (const auto end = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < end;
       std::this_thread::sleep_for(2ms))
    if (condition()) return true;
  return false;
}

class MembershipTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  Membership join(const std::string& id = "slurm-1.0") { return Membership::join(id, {.roots = {root_}}).value(); }
  /// A gradwatt of the run whose CMD is a script of sh.
  pid_t gradwatt(const std::string& script, int number, const std::string& gpus = "",
                 const std::string& expected = "4") {
    const pid_t child = ::fork();
    if (child != 0) return child;
    if (!gpus.empty()) ::setenv("CUDA_VISIBLE_DEVICES", gpus.c_str(), 1);
    const auto report = report_of(number).string();
    ::execl(GRADWATT_BINARY_DIR "/tests/launch_driver", "launch_driver", "--run-id", "slurm-1.0", "--root",
            root_.c_str(), "--expected", expected.c_str(), "--report", report.c_str(), "--", "sh", "-c", script.c_str(),
            nullptr);
    ::_exit(99);
  }
  static int wait_for(pid_t pid) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  [[nodiscard]] std::filesystem::path report_of(int number) const {
    return root_ / ("report" + std::to_string(number));
  }
  [[nodiscard]] std::string report(int number) const {
    std::ifstream file(report_of(number));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] int folders() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(root_)) count += entry.is_directory() ? 1 : 0;
    return count;
  }
  core::SystemClock clock_;
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("gradwatt-membership-" + std::to_string(::getpid()));
};

TEST_F(MembershipTest, TheFirstLeadsInAPrivateFolderAndRemovesIt) {
  {
    const auto membership = join();
    EXPECT_TRUE(membership.leads());
    EXPECT_FALSE(membership.took_over());
    EXPECT_TRUE(std::filesystem::is_directory(membership.marks_folder()));
    EXPECT_EQ(std::filesystem::status(membership.folder()).permissions(), std::filesystem::perms::owner_all);
    EXPECT_LT(membership.folder().filename().string().size(), 32U);
  }
  EXPECT_EQ(folders(), 0);
}

TEST_F(MembershipTest, TwoRunsDoNotMeet) {
  const auto one = join("slurm-1.0"), other = join("slurm-1.1");
  EXPECT_TRUE(one.leads());
  EXPECT_TRUE(other.leads());
}

TEST_F(MembershipTest, FourGradwattsAtOnceMakeOneLeaderThatKnowsThemAll) {
  std::vector<pid_t> pids;
  for (int i = 0; i < 4; ++i) pids.push_back(gradwatt("sleep 0.2", i, std::to_string(i)));
  for (const pid_t pid : pids) EXPECT_EQ(wait_for(pid), 0);
  int leaders = 0, members = 0;
  for (int i = 0; i < 4; ++i) {
    const auto text = report(i);
    if (text.find("role=member leader_alive=true") != std::string::npos) ++members;
    if (text.find("role=leader") == std::string::npos) continue;
    ++leaders;
    EXPECT_THAT(text, HasSubstr("members=4"));
    EXPECT_THAT(text, HasSubstr("run_status=0"));
    for (const char gpu : {'0', '1', '2', '3'})
      EXPECT_EQ(std::ranges::count(text.substr(text.find("gpus=")), gpu) >= 1, true);
  }
  EXPECT_EQ(leaders, 1);
  EXPECT_EQ(members, 3);
  EXPECT_EQ(folders(), 0);
}

TEST_F(MembershipTest, EachPassesItsOwnStatusOnAndTheRunsIsTheFirstThatFailed) {
  const pid_t leader = gradwatt("sleep 0.1", 0, "", "3");
  ASSERT_TRUE(eventually([&] { return folders() == 1; }));
  const pid_t late = gradwatt("sleep 0.6; exit 9", 1, "", "3");
  const pid_t early = gradwatt("exit 4", 2, "", "3");
  EXPECT_EQ(wait_for(early), 4);
  EXPECT_EQ(wait_for(late), 9);
  EXPECT_EQ(wait_for(leader), 0);
  std::string all = report(0) + report(1) + report(2);
  EXPECT_THAT(all, HasSubstr("run_status=4"));
  EXPECT_THAT(all, HasSubstr("members=3"));
}

TEST_F(MembershipTest, AKilledMemberIsNotWaitedForAndItsStatusIsUnknown) {
  auto leader = join();
  leader.command_started(::getpid(), std::nullopt);
  const pid_t member = gradwatt("exec sleep 5", 1);
  telemetry::JobScope scope;
  ASSERT_TRUE(eventually([&] { return leader.update(scope), scope.snapshot()->roots.size() == 2; }));
  ::kill(member, SIGKILL);
  wait_for(member);
  leader.command_ended(0, clock_.now());
  EXPECT_TRUE(leader.wait_for_others(clock_, {}));
  EXPECT_EQ(leader.run_exit_status(), std::nullopt);
  EXPECT_TRUE(leader.update(scope));
  EXPECT_TRUE(scope.snapshot()->roots.empty());
}

TEST_F(MembershipTest, TheScopeHoldsEveryCommandAndItsGpus) {
  auto leader = join();
  telemetry::JobScope scope;
  leader.command_started(77, "0,GPU-abc");
  EXPECT_TRUE(leader.update(scope));
  EXPECT_THAT(scope.snapshot()->roots, ElementsAre(77));
  EXPECT_THAT(scope.snapshot()->visible_gpus, ElementsAre("0,GPU-abc"));
  EXPECT_FALSE(scope.snapshot()->all_gpus);
  EXPECT_FALSE(leader.update(scope)) << "nothing changed";
  const pid_t member = gradwatt("exit 3", 1);
  EXPECT_EQ(wait_for(member), 3);
  EXPECT_TRUE(leader.update(scope));
  EXPECT_TRUE(scope.snapshot()->all_gpus) << "the other command was not restricted";
  EXPECT_THAT(scope.snapshot()->roots, ElementsAre(77)) << "the other command has ended";
  leader.command_ended(0, clock_.now());
  leader.update(scope);
  EXPECT_EQ(leader.run_exit_status(), 3);
}

TEST_F(MembershipTest, NoGpuAtAllIsARestriction) {
  auto leader = join();
  telemetry::JobScope scope;
  leader.command_started(77, "");
  leader.update(scope);
  EXPECT_THAT(scope.snapshot()->visible_gpus, ElementsAre(""));
  EXPECT_FALSE(scope.snapshot()->all_gpus);
}

TEST_F(MembershipTest, MembersNoticeAKilledLeaderAndTheLastOneCleansUp) {
  const pid_t leader = gradwatt("exec sleep 2", 0);
  ASSERT_TRUE(eventually([&] { return folders() == 1; }));
  std::this_thread::sleep_for(50ms);
  {
    const auto member = join();
    ASSERT_FALSE(member.leads());
    EXPECT_TRUE(member.leader_alive());
    ::kill(leader, SIGKILL);
    wait_for(leader);
    EXPECT_TRUE(
        eventually([&] { return !member.leader_alive(); }));  // its sentinel may close its copies a little later
  }
  EXPECT_EQ(folders(), 0);
}

TEST_F(MembershipTest, ANewLeaderAfterAKilledOneKnowsThatARecordExists) {
  const pid_t leader = gradwatt("exec sleep 3", 0);
  ASSERT_TRUE(eventually([&] { return folders() == 1; }));
  std::this_thread::sleep_for(50ms);
  const pid_t member = gradwatt("exec sleep 1", 1);
  ASSERT_TRUE(eventually([&] {
    int files = 0;
    for (const auto& folder : std::filesystem::directory_iterator(root_))
      for (const auto& file : std::filesystem::directory_iterator(folder))
        files += file.path().filename().string()[0] == 'm';
    return files == 3;  // two members and the folder of the marks
  }));
  ::kill(leader, SIGKILL);
  wait_for(leader);
  const auto next = join();
  EXPECT_TRUE(next.leads());
  EXPECT_TRUE(next.took_over());
  wait_for(member);
}

TEST_F(MembershipTest, StopEndsTheWait) {
  auto leader = join();
  const pid_t member = gradwatt("sleep 1", 1);
  telemetry::JobScope scope;
  ASSERT_TRUE(eventually([&] { return leader.update(scope), !scope.snapshot()->roots.empty(); }));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(leader.wait_for_others(clock_, stop.get_token()));
  ::kill(member, SIGTERM);
  wait_for(member);
}

TEST_F(MembershipTest, AFolderThatOthersMayEnterIsNotUsed) {
  std::filesystem::path folder;
  { folder = join().folder(); }
  std::filesystem::create_directory(folder);
  ::chmod(folder.c_str(), 0777);
  const auto refused = Membership::join("slurm-1.0", {.roots = {root_}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, core::Errc::not_permitted);
  EXPECT_THAT(refused.error().message, HasSubstr(folder.string()));
  const auto elsewhere = root_ / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  const auto second = Membership::join("slurm-1.0", {.roots = {root_, elsewhere}});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->folder().parent_path(), elsewhere);
}

TEST_F(MembershipTest, ALinkInPlaceOfTheFolderIsNotFollowed) {
  std::filesystem::path folder;
  { folder = join().folder(); }
  std::filesystem::create_directory(root_ / "target");
  ::chmod((root_ / "target").c_str(), 0700);
  std::filesystem::create_symlink(root_ / "target", folder);
  EXPECT_FALSE(Membership::join("slurm-1.0", {.roots = {root_}}));
}

TEST_F(MembershipTest, ComingAndGoingAtOnceNeverMakesTwoLeadersInOneFolder) {
  std::vector<pid_t> pids;
  for (int i = 0; i < 4; ++i) {
    pids.push_back(::fork());
    if (pids.back() != 0) continue;
    bool good = true;
    for (int round = 0; round < 60; ++round) {
      const auto mine = Membership::join("slurm-1.0", {.roots = {root_}});
      if (!mine) {
        good = false;
        continue;
      }
      if (!mine->leads()) continue;
      // A leader alone may create this file, and removes it before it goes.
      const auto proof = mine->folder() / "proof";
      good = good && ::mkdir(proof.c_str(), 0700) == 0 && ::rmdir(proof.c_str()) == 0;
    }
    ::_exit(good ? 0 : 1);
  }
  for (const pid_t pid : pids) EXPECT_EQ(wait_for(pid), 0);
  EXPECT_EQ(folders(), 0);
}

}  // namespace
}  // namespace gradwatt::launch
