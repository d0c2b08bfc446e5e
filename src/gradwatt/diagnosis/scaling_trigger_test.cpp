#include "gradwatt/diagnosis/scaling_trigger.hpp"

#include <gmock/gmock.h>

namespace gradwatt::diagnosis {
namespace {

energy::RunFigures run_of(double ranks, double samples_per_s) {
  energy::RunFigures out;
  out.ranks = ranks;
  out.samples_per_step = 32 * ranks;
  out.step_s.assign(20, 32 * ranks / samples_per_s);
  return out;
}

TEST(PoorScaling, SpeaksWhenMoreRanksGainLessThanAThirdOfWhatTheyCould) {
  const auto text = poor_scaling(run_of(2, 1000), run_of(8, 1700));
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, testing::HasSubstr("8 ranks are 1.70 times as fast as 2"));
}

TEST(PoorScaling, IsSilentWhereTheGainIsFair) { EXPECT_FALSE(poor_scaling(run_of(2, 1000), run_of(8, 3000))); }

TEST(PoorScaling, IsSilentWithoutMoreRanksOrWithoutAFigure) {
  EXPECT_FALSE(poor_scaling(run_of(8, 1000), run_of(8, 500)));
  EXPECT_FALSE(poor_scaling(run_of(8, 1000), run_of(2, 200)));
  EXPECT_FALSE(poor_scaling({}, run_of(8, 500)));
}

}  // namespace
}  // namespace gradwatt::diagnosis
