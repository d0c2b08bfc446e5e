#include "gradwatt/energy/integrate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "gradwatt/energy/scripted_run.hpp"
#include "gradwatt/energy/summary.hpp"

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;
using scripted::at;
using scripted::ScriptedRun;
using scripted::uniform;

constexpr auto kPower = metric(DeviceKind::gpu, "power_inst");
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// A periodic load whose energy is known exactly.
struct Wave {
  bool square = true;
  double low_w = 100, high_w = 400, period_s = 1, phase = 0, duty = 0.5;

  [[nodiscard]] double power(double t) const {
    const double x = t / period_s + phase;
    const double part = x - std::floor(x);
    if (square) return part < duty ? high_w : low_w;
    return low_w + (high_w - low_w) * part;
  }
  [[nodiscard]] double energy(double to_s) const { return integral(to_s / period_s + phase) - integral(phase); }

 private:
  /// Of the power from period 0 to x periods.
  [[nodiscard]] double integral(double x) const {
    const double whole = std::floor(x), part = x - whole;
    const double mean = square ? duty * high_w + (1 - duty) * low_w : (low_w + high_w) / 2;
    const double rest = square ? low_w * part + (high_w - low_w) * std::min(part, duty)
                               : low_w * part + (high_w - low_w) * part * part / 2;
    return period_s * (whole * mean + rest);
  }
};

DeviceEnergy measured_gpu(const record::Run& run) { return summarize(run).energy.components.at(0).devices.at(0); }

struct Outcome {
  double error;   ///< relative
  double tail_s;  ///< the end of a run that no reading covers
  bool held;
};

/// The truth is the script's energy over what is covered: the last period may end before its reading.
Outcome measure_wave(const Wave& wave, double duration_s, std::mt19937_64& rng) {
  ScriptedRun script(duration_s);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.stratified(gpu, kPower, duration_s, 1.0, rng, [&](double t) { return wave.power(t); });
  const auto energy = measured_gpu(script.run);
  const double covered_s = energy.coverage * duration_s;
  const double truth = wave.energy(covered_s);
  return {(*energy.energy_j - truth) / truth, duration_s - covered_s,
          *energy.low_j <= truth && truth <= *energy.high_j};
}

Wave random_wave(int i, std::mt19937_64& rng) {
  Wave wave{.square = i % 2 == 0, .low_w = uniform(rng, 50, 150), .high_w = uniform(rng, 250, 700)};
  wave.period_s = std::exp(uniform(rng, std::log(0.3), std::log(60)));
  wave.phase = uniform(rng, 0, 1);
  wave.duty = uniform(rng, 0.2, 0.8);
  return wave;
}

Outcome measure_random_wave(int i, std::mt19937_64& rng) {
  const auto wave = random_wave(i, rng);
  const double duration_s = uniform(rng, 60, 600);
  return measure_wave(wave, duration_s, rng);
}

TEST(Integrate, HoldsTheTruthInItsIntervalForRandomScripts) {
  constexpr int kScripts = 500;
  std::mt19937_64 rng(20260101);
  int held = 0;
  double sum = 0;
  for (int i = 0; i < kScripts; ++i) {
    const auto outcome = measure_random_wave(i, rng);
    held += outcome.held ? 1 : 0;
    sum += outcome.error;
    EXPECT_LT(outcome.tail_s, 1.0);
  }
  std::printf("500 scripts: interval held the truth in %.1f %%, mean error %.4f %%\n", 100.0 * held / kScripts,
              100 * sum / kScripts);
  EXPECT_GE(held, kScripts * 93 / 100);
  EXPECT_LT(std::abs(sum / kScripts), 0.001);
}

TEST(Integrate, LeansToNeitherSide) {
  // The mean of 500 scripts still scatters by 0.1 %; that of 4000 by 0.04 %.
  constexpr int kScripts = 4000;
  std::mt19937_64 rng(42);
  double sum = 0;
  for (int i = 0; i < kScripts; ++i) sum += measure_random_wave(i, rng).error;
  std::printf("4000 scripts: mean error %.4f %%\n", 100 * sum / kScripts);
  EXPECT_LT(std::abs(sum / kScripts), 0.001);
}

double rms_of(double period_s, bool square) {
  constexpr int kRuns = 300;
  std::mt19937_64 rng(7);
  double squares = 0;
  for (int i = 0; i < kRuns; ++i) {
    Wave wave{.square = square, .period_s = period_s, .phase = uniform(rng, 0, 1)};
    squares += std::pow(measure_wave(wave, 600, rng).error, 2);
  }
  const double rms = std::sqrt(squares / kRuns);
  std::printf("%s wave of %g s, 10 minutes at 1 s: rms error %.3f %%\n", square ? "square" : "saw", period_s,
              100 * rms);
  return rms;
}

TEST(Integrate, FastSquareWaveOfTenMinutesIsWithinThreePercent) { EXPECT_LE(rms_of(1, true), 0.03); }
TEST(Integrate, SlowSquareWaveOfTenMinutesIsWithinSixPerMille) { EXPECT_LE(rms_of(20, true), 0.006); }
TEST(Integrate, SawWavesAreNoWorse) {
  EXPECT_LE(rms_of(1, false), 0.03);
  EXPECT_LE(rms_of(20, false), 0.006);
}

TEST(Integrate, ConstantLoadIsExactAtRandomInstantsAndAnyLength) {
  std::mt19937_64 rng(3);
  for (const double duration_s : {1.0, 7.3, 61.5}) {
    ScriptedRun script(duration_s);
    const auto gpu = script.add(DeviceKind::gpu, 0);
    script.stratified(gpu, kPower, duration_s, 1.0, rng, [](double) { return 250; });
    const auto energy = measured_gpu(script.run);
    EXPECT_NEAR(*energy.power_avg_w, 250, 1e-9);
    EXPECT_NEAR(*energy.energy_j, 250 * energy.coverage * duration_s, 1e-6);
  }
}

TEST(Integrate, MeanPowerTimesCoveredTimeIsTheEnergy) {
  // The last interval is a tenth of the others: an unweighted mean of readings would give it the same say.
  ScriptedRun script(4.1);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.readings(gpu, kPower, {{0, 100}, {1, 100}, {2, 100}, {3, 100}, {4, 100}, {4.1, 700}});
  script.quality(gpu, kPower);
  const auto summary = summarize(script.run);
  const auto& energy = summary.energy.components[0].devices[0];
  const double covered_s = energy.coverage * summary.duration_s;
  EXPECT_NEAR(*energy.energy_j, 440, 1e-6);
  EXPECT_NEAR(*energy.power_avg_w * covered_s / *energy.energy_j, 1, 1e-9);
  ASSERT_FALSE(summary.statistics.empty());
  EXPECT_NEAR(summary.statistics[0].mean * summary.statistics[0].covered_s / *energy.energy_j, 1, 1e-9);
}

TEST(Integrate, AFailedReadingIsNeitherZeroNorCovered) {
  std::mt19937_64 rng(5);
  ScriptedRun script(60);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.stratified(gpu, kPower, 60, 1.0, rng, [](double t) { return t > 20 && t < 30 ? kMissing : 300.0; });
  const auto energy = measured_gpu(script.run);
  EXPECT_NEAR(*energy.power_avg_w, 300, 1e-9);
  EXPECT_NEAR(energy.coverage, 50.0 / 60, 1e-9);
  EXPECT_NEAR(*energy.estimated_j, 3000, 1e-6);
}

TEST(Integrate, ALateReadingStillStandsForItsPeriod) {
  ScriptedRun script(4);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.readings(gpu, kPower, {{0.5, 100}, {2.05, 100}, {2.5, 100}, {3.5, 100}});
  auto& quality = script.quality(gpu, kPower);
  quality.sampling = record::Sampling::stratified;
  quality.phase_ns = at(0);
  EXPECT_NEAR(measured_gpu(script.run).coverage, 1, 1e-9);
}

TEST(Integrate, DeadlineReadingsBridgeThreeCadencesAndNoMore) {
  ScriptedRun script(10);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.readings(gpu, kPower, {{0, 100}, {1, 100}, {4, 100}, {8, 100}, {9, 100}, {10, 100}});
  script.quality(gpu, kPower);
  const auto energy = measured_gpu(script.run);
  EXPECT_NEAR(*energy.energy_j, 600, 1e-6);
  EXPECT_NEAR(energy.coverage, 0.6, 1e-9);
}

TEST(Integrate, ImportedReadingsOutsideTheJobCountOnlyThroughTheLineAcrossItsEdge) {
  ScriptedRun script(2);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.readings(gpu, kPower, {{-5, 900}, {-4, 0}, {-0.5, 100}, {0.5, 200}, {1.5, 200}, {2.5, 200}, {3.5, 900}});
  script.quality(gpu, kPower).sampling = record::Sampling::irregular;
  // From 150 W at the begin to 200 W half a second later.
  EXPECT_NEAR(*measured_gpu(script.run).energy_j, 175 * 0.5 + 200 * 1.5, 1e-6);
}

TEST(Integrate, OneReadingAtADeadlineIsNoEnergy) {
  ScriptedRun script(2);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.readings(gpu, kPower, {{1, 100}});
  script.quality(gpu, kPower);
  const auto energy = measured_gpu(script.run);
  EXPECT_FALSE(energy.energy_j);
  EXPECT_FALSE(energy.why_not.empty());
}

TEST(Integrate, NoIntervalIsClaimedFromASingleReading) {
  ScriptedRun script(1);
  const auto gpu = script.add(DeviceKind::gpu, 0);
  script.readings(gpu, kPower, {{0.4, 100}});
  auto& quality = script.quality(gpu, kPower);
  quality.sampling = record::Sampling::stratified;
  quality.phase_ns = at(0);
  const auto energy = measured_gpu(script.run);
  EXPECT_NEAR(*energy.energy_j, 100, 1e-9);
  EXPECT_FALSE(energy.low_j);
  EXPECT_TRUE(energy.interval_contains.empty());
}

}  // namespace
}  // namespace gradwatt::energy
