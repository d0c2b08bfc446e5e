#include "training_cost.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

HostCost measured(double energy_j) {
  return {.by = HostCost::MeasuredBy::trainer,
          .energy_j = energy_j,
          .low_j = 0.9 * energy_j,
          .high_j = 1.1 * energy_j,
          .how = record::How::counter,
          .coverage = 1,
          .not_measured = {"network"},
          .steps_energy_j = energy_j / 2,
          .samples = 100};
}

TEST(TrainingCost, EnergiesAndIntervalsOfHostsAddUp) {
  const auto sum = sum_of(std::vector{measured(1000), measured(3000)});
  EXPECT_EQ(sum.energy_j, 4000);
  EXPECT_DOUBLE_EQ(sum.low_j.value(), 3600);
  EXPECT_DOUBLE_EQ(sum.high_j.value(), 4400);
  EXPECT_EQ(sum.energy_per_sample_j, 2000.0 / 200);
  EXPECT_THAT(sum.not_measured, ElementsAre("network"));
}

TEST(TrainingCost, TheSumIsAsGoodAsItsWeakestHost) {
  auto modelled = measured(1000);
  modelled.how = record::How::modelled;
  modelled.coverage = 0.5;
  modelled.low_j = std::nullopt;
  const auto sum = sum_of(std::vector{measured(1000), modelled});
  EXPECT_EQ(sum.how, record::How::modelled);
  EXPECT_EQ(sum.coverage, 0.5);
  EXPECT_FALSE(sum.low_j) << "an interval of a part is none of the whole";
}

TEST(TrainingCost, AHostWithoutSensorsIsMissingAndNotZero) {
  const HostCost blind{.by = HostCost::MeasuredBy::trainer};
  const auto sum = sum_of(std::vector{measured(1000), blind});
  EXPECT_EQ(sum.energy_j, 1000);
  EXPECT_EQ(sum.measured_hosts, 1U);
  EXPECT_FALSE(sum.energy_per_sample_j) << "samples of all hosts for the energy of one";
  EXPECT_THAT(lines_about(sum)[0], HasSubstr("on 1 of 2 hosts"));
  const auto none = sum_of(std::vector{blind});
  EXPECT_FALSE(none.energy_j);
  EXPECT_THAT(lines_about(none), ElementsAre(HasSubstr("not measured")));
}

TEST(TrainingCost, BelowRunTheEnergyIsRunsToSay) {
  EXPECT_THAT(lines_about(sum_of(std::vector{HostCost{}})), ElementsAre(HasSubstr("gradwatt run")));
}

TEST(TrainingCost, TheOriginIsSaid) {
  const auto line = lines_about(sum_of(std::vector{measured(100)}))[0];
  EXPECT_THAT(line, HasSubstr("100 J (counter"));
  EXPECT_THAT(line, HasSubstr("10 %"));
  EXPECT_THAT(line, HasSubstr("0.500 J a sample"));
}

TEST(TrainingCost, ComesOverALineAsItWas) {
  for (const auto& cost : {measured(1234.5), HostCost{.by = HostCost::MeasuredBy::trainer}, HostCost{}}) {
    const auto back = host_cost_from(to_line(cost));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->by, cost.by);
    EXPECT_EQ(back->energy_j, cost.energy_j);
    EXPECT_EQ(back->high_j, cost.high_j);
    EXPECT_EQ(back->how, cost.how);
    EXPECT_EQ(back->coverage, cost.coverage);
    EXPECT_EQ(back->not_measured, cost.not_measured);
    EXPECT_EQ(back->steps_energy_j, cost.steps_energy_j);
    EXPECT_EQ(back->samples, cost.samples);
  }
  EXPECT_FALSE(host_cost_from("{"));
}

}  // namespace
}  // namespace gradwatt::app
