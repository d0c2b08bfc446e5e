#include "gradwatt/planning/plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gradwatt/planning/example_job.hpp"
#include "gradwatt/planning/plan/front.hpp"
#include "gradwatt/planning/plan/preset_job.hpp"

namespace gradwatt::planning {
namespace {

using ::testing::HasSubstr;

Question question() {
  Question out;
  out.axes.gpus = {1, 2, 4, 8, 16, 32, 64};
  out.axes.batches = {{BatchRule::local, 64}, {BatchRule::global, 512}};
  out.axes.hardware = {{.name = "A100", .job = example_job()}};
  out.axes.gpus_per_node = 4;
  return out;
}

Plan plan_of(const Question& asked) {
  auto plan = make_plan(asked);
  EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
  return std::move(*plan);
}

TEST(Front, HoldsNoSettingThatAnotherBeatsAndEveryOneThatNoneDoes) {
  const auto plan = plan_of(question());
  const auto beats = [](const Candidate& a, const Candidate& b) {
    return a.time_s <= b.time_s && *a.energy_j <= *b.energy_j && (a.time_s < b.time_s || *a.energy_j < *b.energy_j);
  };
  ASSERT_FALSE(plan.front.empty());
  for (std::size_t i = 0; i < plan.grid.candidates.size(); ++i) {
    const auto& c = plan.at(i);
    if (!c.broken.none()) continue;
    const bool beaten = std::ranges::any_of(
        plan.grid.candidates, [&](const Candidate& other) { return other.broken.none() && beats(other, c); });
    if (std::ranges::find(plan.front, i) != plan.front.end()) {
      EXPECT_FALSE(beaten) << describe(question(), c);
    } else if (!beaten) {
      EXPECT_TRUE(std::ranges::any_of(plan.front, [&](std::size_t f) { return plan.at(f).time_s == c.time_s; }))
          << describe(question(), c);
    }
  }
}

TEST(Choice, IsTheLeastEnergyAndAmongEqualsTheFastest) {
  const auto plan = plan_of(question());
  ASSERT_TRUE(plan.chosen);
  for (const auto& c : plan.grid.candidates)
    if (c.broken.none() && c.time_s < plan.at(*plan.chosen).time_s) {
      EXPECT_GT(*c.energy_j, *plan.at(*plan.chosen).energy_j);
    }
  EXPECT_EQ(plan.at(*plan.chosen).setting.gpus, 4) << "a full node shares its base line and needs no network";
}

TEST(Choice, ADeadlineIsMetWithNoMoreEnergyThanItTakesAndNeighboursSayWhyTheyLost) {
  auto asked = question();
  asked.limits.deadline_s = 1000;
  const auto plan = plan_of(asked);
  ASSERT_TRUE(plan.chosen);
  const auto& chosen = plan.at(*plan.chosen);
  EXPECT_LE(chosen.time_s, 1000);
  bool late = false, dearer = false;
  for (const auto& rival : plan.rivals) {
    late |= rival.reason.find("past the deadline of 16 min 40 s") != std::string::npos;
    dearer |= rival.reason.find("more energy") != std::string::npos;
  }
  EXPECT_TRUE(late);
  EXPECT_TRUE(dearer);
}

TEST(Knee, IsWhereEnergyTimesTimeIsLeast) {
  auto asked = question();
  asked.axes.gpus = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
  asked.axes.batches = {{BatchRule::global, 512}};
  const auto plan = plan_of(asked);
  ASSERT_TRUE(plan.knee);
  const auto product = [](const Candidate& c) { return *c.energy_j * c.time_s; };
  for (const auto i : plan.front) EXPECT_GE(product(plan.at(i)), product(plan.at(*plan.knee)));
}

TEST(Risk, CountsDoublingsOfTheGlobalBatchBeyondTheKnownOnes) {
  auto asked = question();
  asked.good_batches = GoodBatches{128, 512, "test"};
  asked.limits.most_risk = 0;
  const auto plan = plan_of(asked);
  for (const auto& c : plan.grid.candidates) {
    const double batch = c.setting.global_batch();
    EXPECT_DOUBLE_EQ(*c.risk, batch < 128 ? std::log2(128 / batch) : std::max(0.0, std::log2(batch / 512)));
    EXPECT_EQ(c.broken.has(Limit::risk), *c.risk > 0);
  }
}

TEST(Cost, NeedsTheUsersPrices) {
  auto asked = question();
  EXPECT_FALSE(plan_of(asked).at(0).cost);
  asked.prices = {.per_kwh = 0.3, .per_gpu_hour = 2, .pue = 1.5, .currency = "EUR"};
  const auto plan = plan_of(asked);
  const auto& c = plan.at(0);
  ASSERT_TRUE(c.cost);
  EXPECT_NEAR(*c.cost, 2 * c.gpu_hours + 0.3 * 1.5 * *c.energy_j / 3.6e6, 1e-9);
}

TEST(Axes, AStrategyOfAThirdOfTheExchangeIsFasterAndOnlyWhereThereIsOne) {
  auto asked = question();
  asked.axes.strategies = {{.name = "profiled"},
                           {.name = "quick", .cost_ratio = [](const Shape&) { return 1.0 / 3; }, .caution = {}}};
  const auto plan = plan_of(asked);
  const std::size_t half = plan.grid.candidates.size() / 2;
  EXPECT_DOUBLE_EQ(plan.at(0).time_s, plan.at(half).time_s);
  EXPECT_LT(plan.at(2 * half - 1).time_s, plan.at(half - 1).time_s);
}

TEST(Axes, NeighboursDifferByOnePlaceOnOneAxis) {
  auto asked = question();
  asked.axes.accumulation = {1, 2};
  const auto grid = evaluate(asked);
  ASSERT_EQ(grid.candidates.size(), 7U * 2 * 2);
  for (const auto n : grid.neighbours(13)) {
    const auto& a = grid.candidates[13];
    const auto& b = grid.candidates[n];
    const int differences = (a.setting.gpus != b.setting.gpus ? 1 : 0) + (a.batch != b.batch ? 1 : 0) +
                            (a.setting.accumulation != b.setting.accumulation ? 1 : 0);
    EXPECT_EQ(differences, 1);
  }
}

// --- what cannot be done says which limit binds, and what is nearest

TEST(Impossible, ADeadlineUnderTheFastestNamesTheFastest) {
  auto asked = question();
  asked.limits.deadline_s = 1;
  const auto plan = plan_of(asked);
  ASSERT_TRUE(plan.impossible);
  EXPECT_EQ(plan.impossible->binding, std::vector{Limit::deadline});
  EXPECT_THAT(plan.impossible->sentence, HasSubstr("deadline binds; without deadline, nearest: 64 GPUs"));
  EXPECT_THAT(plan.impossible->sentence, HasSubstr("past the deadline of 1.00 s"));
}

TEST(Impossible, NoMemoryNamesTheSmallestLocalBatchAndWhatFits) {
  auto asked = question();
  asked.axes.batches = {{BatchRule::local, 64}, {BatchRule::local, 128}};
  asked.axes.hardware[0].most_local_batch = 16;
  const auto plan = plan_of(asked);
  ASSERT_TRUE(plan.impossible);
  EXPECT_EQ(plan.impossible->binding, std::vector{Limit::memory});
  EXPECT_THAT(plan.impossible->sentence, HasSubstr("local batch 64, of which at most 16 fits"));
}

TEST(Impossible, DeadlineAndBudgetThatExcludeEachOtherNameBothAndTheirNearestPlans) {
  auto asked = question();
  const auto free = plan_of(asked);
  asked.limits.deadline_s = free.at(free.front.front()).time_s * 1.01;
  asked.limits.energy_j = *free.at(*free.chosen).energy_j * 1.01;
  const auto plan = plan_of(asked);
  ASSERT_TRUE(plan.impossible);
  EXPECT_EQ(plan.impossible->binding, (std::vector{Limit::deadline, Limit::energy}));
  EXPECT_THAT(plan.impossible->sentence, HasSubstr("the limits contradict each other"));
  EXPECT_THAT(plan.impossible->sentence, HasSubstr("without deadline, nearest: 4 GPUs"));
}

TEST(Impossible, WhereOneLimitIsNotEnoughBothAreNamedAndMemoryIsNotGivenUp) {
  auto asked = question();
  asked.axes.hardware[0].most_local_batch = 64;
  asked.limits.deadline_s = 1;
  asked.limits.energy_j = 1;
  const auto plan = plan_of(asked);
  ASSERT_TRUE(plan.impossible);
  EXPECT_EQ(plan.impossible->binding, (std::vector{Limit::deadline, Limit::energy}));
  EXPECT_THAT(plan.impossible->sentence, HasSubstr("deadline and budget would have to give way together"));
}

TEST(Limits, SurelyHoldsADeadlineByTheFarEndOfTheInterval) {
  auto asked = question();
  const auto free = plan_of(asked);
  asked.limits.deadline_s = free.at(*free.chosen).time_s * 1.01;
  EXPECT_EQ(plan_of(asked).chosen, free.chosen);
  asked.limits.surely = true;
  const auto careful = plan_of(asked);
  ASSERT_TRUE(careful.chosen);
  const auto& c = careful.at(*careful.chosen);
  EXPECT_LE(predict(job_of(asked, c), c.setting).time_s.figure->high90, *asked.limits.deadline_s);
}

TEST(Impossible, ABatchThatDoesNotDivideSaysSo) {
  auto asked = question();
  asked.axes.gpus = {3};
  asked.axes.batches = {{BatchRule::global, 512}};
  const auto plan = plan_of(asked);
  ASSERT_TRUE(plan.impossible);
  EXPECT_THAT(plan.impossible->sentence, HasSubstr("a global batch of 512 does not divide among 3 replicas"));
}

TEST(Impossible, AProfileThatCannotSayNamesTheRunThatWould) {
  auto asked = question();
  asked.axes.gpus = {8};
  asked.axes.hardware[0].job.throughput.knows_across = false;
  const auto plan = plan_of(asked);
  ASSERT_TRUE(plan.impossible);
  EXPECT_THAT(plan.impossible->sentence, HasSubstr("profile two nodes"));
}

TEST(Impossible, ContradictoryLimitsAreWrongUse) {
  auto asked = question();
  asked.limits.least_batch = 1000, asked.limits.most_batch = 10;
  const auto plan = make_plan(asked);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, core::Errc::wrong_use);
}

TEST(Impossible, ABudgetOfEnergyWithoutNodePowerIsRefused) {
  auto asked = question();
  asked.limits.energy_j = 1e6;
  asked.axes.hardware[0].job.energy.reset();
  const auto plan = make_plan(asked);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("energy is not known"));
}

TEST(Presets, FourGpusOfResNet50CostAsMuchAsPublished) {
  const auto preset = preset_job(**find_preset("resnet50-a100"));
  ASSERT_TRUE(preset) << preset.error().message;
  Setting four{.gpus = 4, .gpus_per_node = 4, .local_batch = 64};
  const auto answer = predict(preset->job, four);
  ASSERT_TRUE(answer.energy_j.figure) << answer.energy_j.origin;
  // Published budget: 22 h, 23.8 to 27.3 kWh.
  EXPECT_NEAR(answer.time_s.figure->value / 3600, 22, 4);
  EXPECT_NEAR(answer.energy_j.figure->value / 3.6e6, 25.5, 4);
  EXPECT_LT(answer.energy_j.figure->low90 / 3.6e6, 23.8);
  EXPECT_GT(answer.energy_j.figure->high90 / 3.6e6, 27.3);
}

TEST(Presets, WithoutHoursSayWhatTheyKnowAndWhatIsMissing) {
  const auto preset = preset_job(**find_preset("fourcastnet-h100"));
  ASSERT_FALSE(preset);
  EXPECT_THAT(preset.error().message, HasSubstr("0.26 to 0.28 kWh a GPU-hour"));
  EXPECT_THAT(preset.error().message, HasSubstr("--profile"));
  const std::vector<PublishedRun> told{{4, 0, 30, {}}, {16, 0, 9, {}}};
  const auto planned = preset_job(**find_preset("fourcastnet-h100"), {}, told);
  ASSERT_TRUE(planned) << planned.error().message;
  const auto p = predict(planned->job, {.gpus = 4, .gpus_per_node = 4, .local_batch = 8});
  ASSERT_TRUE(p.energy_j.figure) << p.energy_j.origin;
  EXPECT_NEAR(p.time_s.figure->value / 3600, 30, 4);
  EXPECT_NEAR(p.energy_j.figure->value / 3.6e6, 0.27 * 4 * 30, 5);
}

}  // namespace
}  // namespace gradwatt::planning
