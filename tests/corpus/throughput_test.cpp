// How far the throughput model can be trusted: the Pollux traces, from few GPUs to many.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "tests/corpus/pollux.hpp"

namespace gradwatt::planning {
namespace {

using Steps = std::vector<StepObservation>;
const std::vector<std::string> kWorkloads{"imagenet", "cifar10", "bert", "ncf"};

class ThroughputOnPollux : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* corpus = std::getenv("GRADWATT_CORPUS");
    if (corpus == nullptr) GTEST_SKIP() << "GRADWATT_CORPUS is not set: no recordings to test with";
    for (const auto& name : kWorkloads)
      steps_[name] = pollux_steps(std::filesystem::path(corpus) / "planner/pollux-osdi21-traces" / name);
    for (const auto& [name, steps] : steps_) ASSERT_GT(steps.size(), 600U) << name;
  }
  std::map<std::string, Steps> steps_;
};

Steps only(const Steps& steps, const std::function<bool(const StepLoad&)>& wanted) {
  Steps out;
  std::ranges::copy_if(steps, std::back_inserter(out), [&](const auto& o) { return wanted(o.load); });
  return out;
}
ThroughputModel fitted(const Steps& steps, const ThroughputPriors& priors = {}) {
  auto model = fit_throughput(steps, priors);
  EXPECT_TRUE(model) << model.error().message;
  return std::move(*model);
}
double error_percent(const ThroughputModel& model, const Steps& steps) {
  double sum = 0;
  for (const auto& o : steps) sum += std::abs(step_time(model, o.load).step_s / o.step_s - 1);
  return 100 * sum / static_cast<double>(steps.size());
}
struct Coverage {
  double inside = 0;      ///< share of truths in the interval
  double half_width = 1;  ///< geometric, mean
};
Coverage coverage(const ThroughputModel& model, const Steps& steps) {
  double inside = 0, width = 0;
  for (const auto& o : steps) {
    const auto figure = step_figure(model, o.load);
    inside += o.step_s >= figure.low90 && o.step_s <= figure.high90 ? 1 : 0;
    width += std::log(figure.high90 / figure.low90) / 2;
  }
  const auto count = static_cast<double>(steps.size());
  return {inside / count, std::exp(width / count)};
}
/// A short profile: every placement of 1, 2 and 4 GPUs at three local batches, smallest, a middle and a large one.
Steps short_profile(const Steps& steps) {
  auto few = only(steps, [](const auto& l) { return l.replicas == 1 || l.replicas == 2 || l.replicas == 4; });
  std::map<double, int> count;
  for (const auto& o : few) ++count[o.load.local_batch];
  std::vector<double> common;
  const int most = std::ranges::max_element(count, {}, &std::pair<const double, int>::second)->second;
  for (const auto& [batch, n] : count)
    if (n == most) common.push_back(batch);
  const std::set<double> chosen{common.front(), common[common.size() / 2], common.back()};
  return only(few, [&](const auto& l) { return chosen.contains(l.local_batch); });
}
bool unseen(const StepLoad& load) { return load.replicas > 4; }

TEST_F(ThroughputOnPollux, FittedOnUpToEightGpusPredictsMoreWithinEightPercentAndNcfWithinTwelve) {
  double mean = 0;
  for (const auto& [name, steps] : steps_) {
    const auto model = fitted(only(steps, [](const auto& l) { return l.replicas <= 8; }));
    const double error = error_percent(model, only(steps, [](const auto& l) { return l.replicas > 8; }));
    printf("  %s: fit on <= 8 GPUs, error beyond %.1f %%\n", name.c_str(), error);
    if (name == "ncf")
      EXPECT_LE(error, 12);
    else
      mean += error / 3;
  }
  printf("  mean of ImageNet, CIFAR-10 and BERT %.1f %%\n", mean);
  EXPECT_LE(mean, 8);
}

TEST_F(ThroughputOnPollux, ProfiledOnOneTwoAndFourGpusPredictsMoreWithinAQuarterAndKnowsHowWell) {
  for (const auto& [name, steps] : steps_) {
    const auto profile = short_profile(steps);
    const auto model = fitted(profile);
    const auto beyond = only(steps, unseen);
    const double error = error_percent(model, beyond);
    const auto all = coverage(model, beyond);
    const auto twice = coverage(model, only(steps, [](const auto& l) { return l.replicas == 8; }));
    const auto eight = coverage(model, only(steps, [](const auto& l) { return l.replicas == 32; }));
    const auto most = coverage(model, only(steps, [](const auto& l) { return l.replicas == 64; }));
    printf(
        "  %s: %zu steps on 1, 2, 4 GPUs; error beyond %.1f %%; 90 %% interval holds %.0f %% of the truths "
        "(8 GPUs %.0f %%, 32: %.0f %%, 64: %.0f %%), half-width %.2fx at 8, %.2fx at 32, %.2fx at 64\n",
        name.c_str(), profile.size(), error, 100 * all.inside, 100 * twice.inside, 100 * eight.inside,
        100 * most.inside, twice.half_width, eight.half_width, most.half_width);
    EXPECT_LE(error, 25) << name;
    EXPECT_GE(all.inside, 0.85) << name;
    EXPECT_LE(twice.half_width, 1.5) << name;
    EXPECT_LE(eight.half_width, 3) << name;
  }
}

// The growth prior was chosen with these traces in view; here each workload is predicted with what the other three say.
TEST_F(ThroughputOnPollux, HoldsWhenTheGrowthPriorComesFromTheOtherWorkloadsOnly) {
  std::map<std::string, double> growth;
  for (const auto& [name, steps] : steps_)
    growth[name] = throughput_parameters(fitted(steps, {.growth = {0.15, 3}})).growth_across;
  for (const auto& [name, steps] : steps_) {
    double sum = 0;
    for (const auto& [other, g] : growth) sum += other == name ? 0 : std::log(std::max(g, 1e-3)) / 3;
    const ThroughputPriors others{.growth = {std::exp(sum), 0.7}, .two_nodes = {1, 0.5}};
    const auto model = fitted(short_profile(steps), others);
    const auto beyond = only(steps, unseen);
    const auto all = coverage(model, beyond);
    printf("  %s: growth of all its data %.3f, of the others %.3f; error %.1f %%, interval holds %.0f %%\n",
           name.c_str(), growth[name], std::exp(sum), error_percent(model, beyond), 100 * all.inside);
    EXPECT_LE(error_percent(model, beyond), 25) << name;
    EXPECT_GE(all.inside, 0.8) << name;
  }
}

// One placement a GPU count is what a user really profiles: 1, 2 and 4 GPUs of one node, and one GPU on each of 2
// and 4.
TEST_F(ThroughputOnPollux, FifteenStepsOfOnePlacementACountAreEnough) {
  for (const auto& [name, steps] : steps_) {
    auto few = only(short_profile(steps), [](const auto& l) { return l.nodes == 1 || l.nodes == l.replicas; });
    const auto model = fitted(few);
    const auto beyond = only(steps, unseen);
    const auto all = coverage(model, beyond);
    printf("  %s: %zu steps; error %.1f %%, interval holds %.0f %%, half-width at 32 GPUs %.2fx\n", name.c_str(),
           few.size(), error_percent(model, beyond), 100 * all.inside,
           coverage(model, only(steps, [](const auto& l) { return l.replicas == 32; })).half_width);
    EXPECT_LE(error_percent(model, beyond), 25) << name;
  }
}

}  // namespace
}  // namespace gradwatt::planning
