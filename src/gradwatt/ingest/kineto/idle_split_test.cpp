#include "gradwatt/ingest/kineto/idle_split.hpp"

#include <gtest/gtest.h>

namespace gradwatt::ingest::kineto {
namespace {

constexpr std::int64_t kMicrosecond = 1000;

DeviceEvent kernel(std::int64_t begin_us, std::int64_t end_us, std::int64_t launch_us) {
  return {.begin_ns = begin_us * kMicrosecond,
          .end_ns = end_us * kMicrosecond,
          .launch_begin_ns = launch_us * kMicrosecond,
          .launch_end_ns = launch_us * kMicrosecond + 500};
}

TEST(IdleSplit, CallsAGapHostWaitWhenTheNextKernelWasLaunchedInIt) {
  const std::vector work{kernel(0, 10, -5), kernel(100, 110, 95)};
  const auto split = split_idle(work, {0, 110 * kMicrosecond});
  EXPECT_EQ(split.host_wait_ns, 90 * kMicrosecond);
  EXPECT_EQ(split.total(), 90 * kMicrosecond);
}

TEST(IdleSplit, CallsAShortGapBeforeAQueuedKernelKernelWaitAndALongOneOther) {
  const std::vector work{kernel(0, 10, -5), kernel(12, 20, -4), kernel(120, 130, -3)};
  const auto split = split_idle(work, {0, 130 * kMicrosecond});
  EXPECT_EQ(split.kernel_wait_ns, 2 * kMicrosecond);
  EXPECT_EQ(split.other_ns, 100 * kMicrosecond);
  EXPECT_EQ(split.host_wait_ns, 0);
}

TEST(IdleSplit, CountsNoGapThatAnotherStreamFills) {
  const std::vector work{kernel(0, 100, -5), kernel(10, 20, -4), kernel(90, 120, 80)};
  EXPECT_EQ(split_idle(work, {0, 120 * kMicrosecond}).total(), 0);
}

TEST(IdleSplit, CountsTheTimeBeforeTheFirstAndAfterTheLastKernel) {
  const std::vector work{kernel(50, 60, 45)};
  const auto split = split_idle(work, {0, 100 * kMicrosecond});
  EXPECT_EQ(split.host_wait_ns, 90 * kMicrosecond);
}

}  // namespace
}  // namespace gradwatt::ingest::kineto
