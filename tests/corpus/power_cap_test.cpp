// How well three profiled caps show the whole curve, and how good the cap is that is chosen from them: the power traces
// of Zeus (NSDI 2023), V100 and A40, six workloads over cap and batch size.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "gradwatt/planning/cap_choice.hpp"
#include "tests/corpus/csv_rows.hpp"

namespace gradwatt::planning {
namespace {

using Curve = std::vector<CapMeasurement>;

/// Curves with at least six caps: of one data set, network, batch size and optimiser; step_s is the time of an epoch.
std::vector<Curve> curves_of(const std::filesystem::path& file) {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, Curve> curves;
  for (const auto& row : csv_rows(file))
    curves[{row.at("dataset"), row.at("network"), row.at("batch_size"), row.at("optimizer")}].push_back(
        {std::stod(row.at("power_limit")), std::stod(row.at("time_per_epoch")), std::stod(row.at("average_power"))});
  std::vector<Curve> out;
  for (auto& [key, curve] : curves) {
    std::ranges::sort(curve, {}, &CapMeasurement::cap_w);
    if (curve.size() >= 6) out.push_back(curve);
  }
  return out;
}
std::size_t nearest(const Curve& curve, double cap_w) {
  const auto at = std::ranges::min_element(curve, {}, [cap_w](const auto& m) { return std::abs(m.cap_w - cap_w); });
  return static_cast<std::size_t>(at - curve.begin());
}
double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class PowerCapOnZeus : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* corpus = std::getenv("GRADWATT_CORPUS");
    if (corpus == nullptr) GTEST_SKIP() << "GRADWATT_CORPUS is not set: no recordings to test with";
    for (const char* gpu : {"v100", "a40"})
      for (auto& curve : curves_of(std::filesystem::path(corpus) / "planner/zeus-nsdi23-trace" /
                                   ("summary_power_" + std::string(gpu) + ".csv")))
        curves_.push_back(std::move(curve));
    ASSERT_GT(curves_.size(), 100U);
  }

  struct Errors {
    std::vector<double> time, energy;
    std::size_t inside = 0;
  };
  /// Errors at all caps from the lowest profiled one on that were not profiled.
  [[nodiscard]] Errors held_out(double lowest_share, double middle_share) const {
    Errors out;
    for (const auto& curve : curves_) {
      const double top = curve.back().cap_w;
      const std::size_t low = nearest(curve, lowest_share * top), middle = nearest(curve, middle_share * top);
      const Curve profile{curve[low], curve[middle], curve.back()};
      const auto model = fit_power_cap(profile);
      EXPECT_TRUE(model) << model.error().message;
      for (std::size_t i = low; i < curve.size(); ++i) {
        if (i == low || i == middle || i + 1 == curve.size()) continue;
        const double time = step_s_at(*model, curve[i].cap_w);
        const double energy = time * power_at(*model, curve[i].cap_w);
        out.time.push_back(std::abs(time / curve[i].step_s - 1));
        out.energy.push_back(std::abs(energy / (curve[i].step_s * curve[i].power_w) - 1));
        const auto figure = step_s_figure(*model, curve[i].cap_w);
        const double truth = curve[i].step_s;
        out.inside += truth >= figure.low90 && truth <= figure.high90 ? 1 : 0;
      }
    }
    return out;
  }
  std::vector<Curve> curves_;
};

TEST_F(PowerCapOnZeus, ThreeCapsPredictTheOthersWithinThreePercentOfTimeAndFourOfEnergy) {
  // The caps that choose_cap profiles, and lowest, middle and highest of the trace: deeper than any plan may go.
  for (const auto& [low, middle] : {std::pair(0.45, 0.6), std::pair(0.0, 0.6)}) {
    const auto errors = held_out(low, middle);
    printf(
        "  caps at %s, 60 and 100 %%: %zu held-out points, time %.2f %%, energy %.2f %%, 90 %% interval holds %.0f "
        "%%\n",
        low > 0 ? "45" : "the lowest", errors.time.size(), 100 * mean(errors.time), 100 * mean(errors.energy),
        100.0 * static_cast<double>(errors.inside) / static_cast<double>(errors.time.size()));
    EXPECT_LE(mean(errors.time), 0.033);
    EXPECT_LE(mean(errors.energy), 0.042);
    // A third of the curves are loads that no cap reaches: noise of up to 10 %, of which no model knows.
    EXPECT_GE(static_cast<double>(errors.inside), 0.82 * static_cast<double>(errors.time.size()));
  }
}

/// A replayed GPU: the trace with noise of each step, of which a window sees the mean.
class Replay {
 public:
  Replay(const Curve& curve, std::mt19937_64& random) : curve_(curve), random_(random) {}
  MeasureCap measure() {
    return [this](double cap_w, int steps) -> core::Result<CapMeasurement> {
      auto out = curve_[nearest(curve_, cap_w)];
      std::normal_distribution<double> noise(0, 0.03 / std::sqrt(steps));
      out.step_s *= std::exp(noise(random_));
      out.power_w *= std::exp(noise(random_));
      return out;
    };
  }

 private:
  const Curve& curve_;
  std::mt19937_64& random_;
};

TEST_F(PowerCapOnZeus, TheChosenCapIsRarelyTooSlowAndCostsLittleMoreThanTheBest) {
  constexpr int kRepeats = 5;
  std::mt19937_64 random(20231);
  int first_too_slow = 0, too_slow = 0, choices = 0, unreached = 0;
  std::vector<double> regret;
  int most_steps = 0;
  for (const auto& curve : curves_)
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      CapQuestion question;
      for (const auto& m : curve) question.caps_w.push_back(m.cap_w);
      Replay gpu(curve, random);
      const auto choice = choose_cap(question, gpu.measure());
      ASSERT_TRUE(choice) << choice.error().message;
      most_steps = std::max(most_steps, choice->steps_spent);
      const double floor_w = curve[nearest(curve, 0.45 * curve.back().cap_w)].cap_w;
      // What no cap reaches gets none: its curve is noise, and nothing can be too slow.
      if (curve.back().power_w < floor_w) {
        ++unreached;
        EXPECT_EQ(choice->cap_w, curve.back().cap_w);
        continue;
      }
      ++choices;
      const auto true_time = [&](double cap_w) { return curve[nearest(curve, cap_w)].step_s / curve.back().step_s; };
      const auto energy = [](const CapMeasurement& m) { return m.step_s * m.power_w; };
      first_too_slow += true_time(choice->measured.back().cap_w) > 1.06 && choice->measured.size() == 4 ? 1 : 0;
      too_slow += true_time(choice->cap_w) > 1.06 ? 1 : 0;
      double best = energy(curve.back());
      for (const auto& m : curve)
        if (m.cap_w >= floor_w && m.step_s <= 1.05 * curve.back().step_s) best = std::min(best, energy(m));
      regret.push_back(energy(curve[nearest(curve, choice->cap_w)]) / best - 1);
    }
  printf(
      "  %d choices (%d more that no cap reaches): slower than 6 %% before verification %.1f %%, after %.1f %%; mean "
      "regret %.2f %%; at most %d steps\n",
      choices, unreached, 100.0 * first_too_slow / choices, 100.0 * too_slow / choices, 100 * mean(regret), most_steps);
  EXPECT_LE(first_too_slow, 0.08 * choices);
  EXPECT_LT(too_slow, 0.02 * choices);
  EXPECT_LE(mean(regret), 0.02);
  EXPECT_LE(most_steps, 200);
}

}  // namespace
}  // namespace gradwatt::planning
