#include "gradwatt/backends/replay/script.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gradwatt::replay {
namespace {

using namespace std::chrono_literals;
using record::DeviceKind;
using record::metric;
using units::watts;

TEST(Script, TheCounterEndsAtTheEnergyOfTheWave) {
  Script script(1min);
  const auto gpu =
      script.add({.uuid = "GPU-1", .wave = square(watts(70), watts(650), 7s, 0.3), .counter_begin_uj = 5000});
  const auto run = script.build();
  const auto* energy = run.series.at(0).find(metric(DeviceKind::gpu, "energy"));
  ASSERT_NE(energy, nullptr);
  EXPECT_EQ(energy->values.back() - energy->values.front(), script.energy_uj(gpu));
  EXPECT_EQ(energy->raw.front(), 5000);
  EXPECT_EQ(energy->raw.back() - energy->raw.front(), script.energy_uj(gpu));
  EXPECT_EQ(run.extent()->end_ns, core::Duration(1min).count());
}

TEST(Script, PowerHeldFromSampleToSampleIsTheSameEnergy) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20; ++i) {
    Script script(std::chrono::seconds(20 + i));
    const auto period = std::chrono::milliseconds(300 + random() % 5000);
    const auto wave = i % 2 == 0 ? square(watts(50), watts(700), period, 0.4) : saw(watts(50), watts(700), period);
    const auto gpu = script.add({.uuid = "GPU-1", .wave = wave, .energy_counter = false});
    const auto run = script.build();
    const auto& series = run.series.at(0);
    EXPECT_EQ(series.find(metric(DeviceKind::gpu, "energy")), nullptr);
    const auto* power = series.find(metric(DeviceKind::gpu, "power_avg"));
    double sum = 0;
    for (std::size_t k = 0; k + 1 < series.size(); ++k)
      sum += power->at(k).value() * static_cast<double>(series.time_ns[k + 1] - series.time_ns[k]) * 1e-9;
    EXPECT_NEAR(sum, script.energy(gpu).si(), 0.0005 * 60);
  }
}

TEST(Script, OtherKindsAndConstantsHaveTheirMetrics) {
  Script script(1s, 100ms);
  script.add({.kind = DeviceKind::cpu, .uuid = "cpu-package-0", .wave = constant(watts(120))});
  script.add({.uuid = "GPU-1", .wave = constant(watts(280)), .limit = watts(700), .utilization_pct = 99});
  const auto run = script.build();
  EXPECT_EQ(run.series.at(0).find(metric(DeviceKind::cpu, "power"))->at(3), 120);
  EXPECT_EQ(run.series.at(1).find(metric(DeviceKind::gpu, "power_limit_enforced"))->at(0), 700);
  EXPECT_EQ(run.series.at(1).find(metric(DeviceKind::gpu, "utilization"))->at(10), 99);
  EXPECT_DOUBLE_EQ(script.total_energy().si(), 400);
  EXPECT_EQ(run.where(), record::Where::simulated);
  for (const auto& quality : run.quality) EXPECT_EQ(quality.where, record::Where::simulated);
}

}  // namespace
}  // namespace gradwatt::replay
