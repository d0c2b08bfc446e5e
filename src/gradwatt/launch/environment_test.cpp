#include "gradwatt/launch/environment.hpp"

#include <gtest/gtest.h>

namespace gradwatt::launch {
namespace {

using enum EnvironmentChange::How;

TEST(Environment, SetReplacesAndAddsAndKeepsTheRestInOrder) {
  const auto changed = with_changes({"A=1", "ODD", "B=2"}, std::vector<EnvironmentChange>{{"B", "3"}, {"C", "4"}});
  EXPECT_EQ(changed, (Environment{"A=1", "ODD", "B=3", "C=4"}));
}

TEST(Environment, APathIsPutBeforeTheOneThatIsThere) {
  const std::vector<EnvironmentChange> change{{"PYTHONPATH", "/agent", prepend_path}};
  EXPECT_EQ(with_changes({"PYTHONPATH=/mine:/yours"}, change), Environment{"PYTHONPATH=/agent:/mine:/yours"});
  EXPECT_EQ(with_changes({}, change), Environment{"PYTHONPATH=/agent"});
}

TEST(Environment, AnEmptyPathGetsNoColonBecauseThatWouldAddTheWorkingFolder) {
  EXPECT_EQ(with_changes({"PYTHONPATH="}, std::vector<EnvironmentChange>{{"PYTHONPATH", "/agent", prepend_path}}),
            Environment{"PYTHONPATH=/agent"});
}

TEST(Environment, ADefaultYieldsToTheUsersValueEvenWhenEmpty) {
  const std::vector<EnvironmentChange> change{{"X", "ours", set_default}};
  EXPECT_EQ(with_changes({"X="}, change), Environment{"X="});
  EXPECT_EQ(with_changes({"XY=1"}, change), (Environment{"XY=1", "X=ours"}));
}

TEST(Environment, RemoveTakesEveryCopyAway) {
  EXPECT_EQ(with_changes({"X=1", "Y=2", "X=3"}, std::vector<EnvironmentChange>{{"X", "", remove}}), Environment{"Y=2"});
}

TEST(Environment, AVariableIsFoundByItsWholeName) {
  const Environment environment{"AB=1", "A=", "C=x=y"};
  EXPECT_EQ(find_variable(environment, "A"), "");
  EXPECT_EQ(find_variable(environment, "C"), "x=y");
  EXPECT_EQ(find_variable(environment, "B"), std::nullopt);
}

}  // namespace
}  // namespace gradwatt::launch
