#include "gradwatt/core/bounded_queue.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace gradwatt::core {
namespace {

using namespace std::chrono_literals;

TEST(BoundedQueue, AFullQueueRefusesAndCounts) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.try_push(1));
  EXPECT_TRUE(queue.try_push(2));
  EXPECT_FALSE(queue.try_push(3));
  EXPECT_EQ(queue.dropped(), 1U);
  EXPECT_EQ(queue.take_all(std::chrono::steady_clock::now()), (std::vector<int>{1, 2}));
  EXPECT_TRUE(queue.try_push(4));
}

TEST(BoundedQueue, CloseWakesTheConsumer) {
  BoundedQueue<int> queue(8);
  std::jthread closer([&] { queue.close(); });
  EXPECT_TRUE(queue.take_all(std::chrono::steady_clock::now() + 1h).empty());
  EXPECT_FALSE(queue.try_push(1));
}

TEST(BoundedQueue, ANudgeWakesTheConsumerOnce) {
  BoundedQueue<int> queue(8);
  EXPECT_TRUE(queue.try_push(7));
  queue.nudge();
  EXPECT_EQ(queue.take_all(std::chrono::steady_clock::now() + 1h).size(), 1U);
}

}  // namespace
}  // namespace gradwatt::core
