#include "gradwatt/launch/impatience.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>

#include "gradwatt/launch/signal_table.hpp"

namespace gradwatt::launch {
namespace {

using namespace std::chrono_literals;
constexpr core::Instant kStart = core::from_ns(1'000'000'000);

TEST(ImpatienceCounter, GivesUpAtTheThirdWithinTwoSeconds) {
  ImpatienceCounter counter;
  EXPECT_FALSE(counter.count(SIGINT, kStart));
  EXPECT_FALSE(counter.count(SIGTERM, kStart + 500ms));
  EXPECT_TRUE(counter.count(SIGINT, kStart + 1900ms));
}

TEST(ImpatienceCounter, ForgetsWhatIsOlder) {
  ImpatienceCounter counter;
  EXPECT_FALSE(counter.count(SIGINT, kStart));
  EXPECT_FALSE(counter.count(SIGINT, kStart + 1s));
  EXPECT_FALSE(counter.count(SIGINT, kStart + 2500ms));
  EXPECT_TRUE(counter.count(SIGINT, kStart + 2600ms));
}

TEST(ImpatienceCounter, DoesNotCountResizedWindows) {
  ImpatienceCounter counter;
  for (int i = 0; i < 9; ++i) EXPECT_FALSE(counter.count(SIGWINCH, kStart));
}

TEST(Impatience, ThreeSignalsEndTheWaitAndTwoDoNot) {
  SignalInbox inbox(supervised_signals());
  std::promise<void> gave_up;
  {
    const Impatience two(inbox, [] { FAIL() << "two are not enough"; });
    ::kill(::getpid(), SIGINT);
    ::kill(::getpid(), SIGTERM);
  }
  const Impatience three(inbox, [&] { gave_up.set_value(); });
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::kill(::getpid(), signal);
  EXPECT_EQ(gave_up.get_future().wait_for(30s), std::future_status::ready);
}

}  // namespace
}  // namespace gradwatt::launch
