#include "gradwatt/launch/sentinel.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "gradwatt/core/text.hpp"

namespace gradwatt::launch {
namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t bit(int signal) { return std::uint64_t{1} << static_cast<unsigned>(signal - 1); }

// Polls: the sentinel is another process, and how soon it runs is the machine's affair.
template <class Condition>
bool eventually(Condition condition) {
  for (const auto end = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < end;
       std::this_thread::sleep_for(1ms))
    if (condition()) return true;
  return false;
}

class SentinelTest : public ::testing::Test {
 protected:
  core::FileTree files_;
  Sentinel sentinel_ = Sentinel::start().value();
};

TEST_F(SentinelTest, KnowsWhichSignalsReachedIt) {
  EXPECT_EQ(sentinel_.received(files_), 0U);
  ::kill(sentinel_.pid(), SIGTERM);
  ::kill(sentinel_.pid(), SIGUSR1);
  EXPECT_EQ(sentinel_.received(files_), bit(SIGTERM) | bit(SIGUSR1));
}

TEST_F(SentinelTest, ClearForgetsThem) {
  ::kill(sentinel_.pid(), SIGINT);
  sentinel_.clear();
  EXPECT_TRUE(eventually([&] { return sentinel_.received(files_) == 0U; }));
}

TEST_F(SentinelTest, KeepsNoDescriptorOpenThatAReaderCouldWaitFor) {
  EXPECT_TRUE(eventually([&] { return files_.list("proc/" + std::to_string(sentinel_.pid()) + "/fd").size() == 1; }));
}

TEST_F(SentinelTest, StandsInTheSameProcessGroup) { EXPECT_EQ(::getpgid(sentinel_.pid()), ::getpgrp()); }

TEST_F(SentinelTest, HasANameOfItsOwn) {
  EXPECT_TRUE(eventually([&] {
    const auto line = files_.read("proc/" + std::to_string(sentinel_.pid()) + "/cmdline").value_or("");
    return std::string_view(line).substr(0, line.find('\0')) == "signal-sentinel";
  }));
  EXPECT_EQ(files_.read("proc/" + std::to_string(sentinel_.pid()) + "/comm").value(), "signal-sentinel");
}

TEST_F(SentinelTest, IsGoneAndReapedWithItsObject) {
  pid_t pid = 0;
  {
    const auto other = Sentinel::start().value();
    pid = other.pid();
    ::kill(pid, SIGSTOP);  // even when stopped
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST_F(SentinelTest, SaysNothingWhenItIsGone) {
  ::kill(sentinel_.pid(), SIGKILL);
  ::waitpid(sentinel_.pid(), nullptr, 0);
  EXPECT_EQ(sentinel_.received(files_), std::nullopt);
  sentinel_.forget();
  sentinel_.clear();
  EXPECT_EQ(sentinel_.received(files_), std::nullopt);
}

TEST(Sentinel, EndsWhenGradwattIsKilled) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto sentinel = Sentinel::start().value();
    const pid_t pid = sentinel.pid();
    [[maybe_unused]] const auto written = ::write(ends[1], &pid, sizeof pid);
    ::raise(SIGKILL);
  }
  pid_t sentinel = 0;
  ASSERT_EQ(::read(ends[0], &sentinel, sizeof sentinel), static_cast<ssize_t>(sizeof sentinel));
  ::waitpid(owner, nullptr, 0);
  const core::FileTree files;
  EXPECT_TRUE(eventually([&] {
    const auto stat = files.read("proc/" + std::to_string(sentinel) + "/stat");
    return !stat || stat->find(") Z") != std::string::npos;
  }));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace gradwatt::launch
