#include "gradwatt/training/strategies/daso_schedule.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>

namespace gradwatt::training {
namespace {

/// One letter a batch: W waits, b begins, m merges, M merges and then exchanges, . neither.
std::string epoch_of(const DasoSchedule& schedule, std::int64_t epoch, std::int64_t epochs, std::int64_t batches) {
  std::string letters;
  std::int64_t since = -1;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    if (since >= 0) ++since;
    const auto decision = schedule.decide(epoch, epochs, batch, batches, since);
    const bool any = decision.exchange != DasoSchedule::Exchange::none;
    if (decision.merge) since = -1;
    if (decision.exchange == DasoSchedule::Exchange::begin) since = 0;
    letters += decision.merge ? (any ? 'M' : 'm')
               : !any         ? '.'
                              : (decision.exchange == DasoSchedule::Exchange::wait ? 'W' : 'b');
  }
  return letters;
}

TEST(DasoSchedule, FirstAndLastEpochsWaitInEveryBatchAndOthersInTheLastAlone) {
  const DasoSchedule schedule({.warmup_epochs = 2, .cooldown_epochs = 1});
  EXPECT_EQ(epoch_of(schedule, 0, 6, 6), "WWWWWW");
  EXPECT_EQ(epoch_of(schedule, 1, 6, 6), "WWWWWW");
  EXPECT_EQ(epoch_of(schedule, 2, 6, 11), "bm..bm..bmW");
  EXPECT_EQ(epoch_of(schedule, 4, 6, 10), "bm..bm..bM") << "what is under way never outlives its epoch";
  EXPECT_EQ(epoch_of(schedule, 5, 6, 6), "WWWWWW");
}

TEST(DasoSchedule, ALossThatStallsHalvesTheSkipsAndFromOneTheyJumpToTheMost) {
  DasoSchedule schedule({.warmup_epochs = 0, .cooldown_epochs = 0, .most_skips = 8});
  std::vector<int> skips, waits, locals;
  for (int epoch = 0; epoch < 16; ++epoch) {
    schedule.epoch_ended(epoch, 100, 1);  // the first is the best, the others stall
    skips.push_back(schedule.plan().global_skips);
    waits.push_back(schedule.plan().batches_to_wait);
    locals.push_back(schedule.plan().local_skips);
  }
  EXPECT_EQ(skips, (std::vector<int>{4, 4, 4, 2, 2, 2, 1, 1, 1, 8, 8, 8, 4, 4, 4, 2}));
  EXPECT_EQ(waits, (std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1}));
  EXPECT_EQ(locals, (std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1}));
}

TEST(DasoSchedule, ALossThatFallsByMoreThanAtwentiethChangesNothing) {
  DasoSchedule schedule({.warmup_epochs = 0, .cooldown_epochs = 0});
  double loss = 1;
  for (int epoch = 0; epoch < 20; ++epoch) schedule.epoch_ended(epoch, 100, loss *= 0.94);
  EXPECT_EQ(schedule.plan().global_skips, 4);
}

TEST(DasoSchedule, GoesOnFromItsState) {
  DasoSchedule schedule({.warmup_epochs = 0, .cooldown_epochs = 0}), other = schedule;
  for (int epoch = 0; epoch < 6; ++epoch) schedule.epoch_ended(epoch, 100, 1);
  other.set_state(schedule.state());
  for (auto* each : {&schedule, &other}) each->epoch_ended(6, 100, 1);
  EXPECT_EQ(other.plan().global_skips, 1);
  EXPECT_TRUE(other.state().equal(schedule.state()));
}

// w = 1, hosts at 2, 4, 6 and 8: (2·1 + 20)/6 and (4·1 + 20)/8.
TEST(DasoSchedule, OldParametersWeighLessTheOlderTheyAre) {
  for (const auto& [waited, merged] : {std::pair{1, 22.0 / 6}, {2, 3.0}, {0, 5.0}}) {
    auto own = at::ones({1}, at::kDouble);
    merge_stale(own, at::full({1}, 20, at::kDouble), waited, 4);
    EXPECT_NEAR(own.item<double>(), merged, 1e-15);
  }
  auto same = at::ones({1}, at::kDouble);
  merge_stale(same, at::full({1}, 4, at::kDouble), 3, 4);
  EXPECT_DOUBLE_EQ(same.item<double>(), 1) << "hosts that agree stay where they are";
}

}  // namespace
}  // namespace gradwatt::training
