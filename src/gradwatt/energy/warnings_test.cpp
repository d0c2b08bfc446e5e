#include "gradwatt/energy/warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gradwatt/energy/scripted_run.hpp"

namespace gradwatt::energy {
namespace {

using record::DeviceKind;
using record::metric;
using scripted::ScriptedRun;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kEnergy = metric(DeviceKind::gpu, "energy");

ScriptedRun healthy(int gpus = 8) {
  ScriptedRun script(100);
  for (int i = 0; i < gpus; ++i) {
    script.every(script.add(DeviceKind::gpu, i), kEnergy, 0, 100, 1, [](double t) { return 300 * t; });
    script.quality(static_cast<record::DeviceIndex>(i), kEnergy).readings = 101;
  }
  return script;
}

std::vector<std::string> warnings(const ScriptedRun& script) { return summarize(script.run).warnings; }

TEST(Warnings, AHealthyRunHasNone) {
  auto script = healthy();
  for (auto& quality : script.run.quality) quality.wraps = 3;
  script.event("counter.wrap", 20, static_cast<record::DeviceIndex>(0), "wrapped");
  script.event("trigger.busy-low-power", 20, static_cast<record::DeviceIndex>(0), "busy");
  EXPECT_THAT(warnings(script), IsEmpty());
}

TEST(Warnings, EightGpusWithTheSameFaultAreOneSentence) {
  auto script = healthy();
  for (auto& quality : script.run.quality) quality.glitches = 2;
  for (int i = 0; i < 16; ++i) script.event("counter.glitch", i, static_cast<record::DeviceIndex>(i % 8), "glitch");
  EXPECT_THAT(
      warnings(script),
      ElementsAre("The energy counter of GPU 0, GPU 1, GPU 2 and 5 more made an impossible step 16 times, which "
                  "was rejected."));
}

TEST(Warnings, WrongFiguresComeBeforeMissingOnesAndHintsLast) {
  auto script = healthy(2);
  script.fact("gpu.persistence_mode", std::string("off"));
  script.event("sensor.lost", 50, static_cast<record::DeviceIndex>(1), "GPU 1 was lost after 50 s.");
  script.event("sensor.lost", 51, static_cast<record::DeviceIndex>(0), "GPU 0 was lost after 51 s.");
  script.run.quality[0].stuck = 1;
  const auto out = warnings(script);
  ASSERT_THAT(out, SizeIs(3));
  EXPECT_THAT(out[0], HasSubstr("stood still"));
  EXPECT_EQ(out[1], "GPU 1 was lost after 50 s. (1 more of this kind)");
  EXPECT_THAT(out[2], HasSubstr("Persistence mode is off on 1 GPU"));
}

TEST(Warnings, AFewFailedReadingsAreNotWorthASentence) {
  auto script = healthy(1);
  script.run.quality[0].failed = 1;
  EXPECT_THAT(warnings(script), IsEmpty());
  script.run.quality[0].failed = 30;
  EXPECT_THAT(warnings(script), ElementsAre(HasSubstr("30 power or energy readings of GPU 0 failed")));
}

TEST(Warnings, LowCoverageLostRowsAndAnOpenRecordAreSaid) {
  ScriptedRun script(100);
  script.every(script.add(DeviceKind::gpu, 0), kEnergy, 20, 100, 1, [](double t) { return 300 * t; });
  script.fact("sampler.rows_lost", 17.0);
  script.run.set(record::meta::kComplete, "0");
  const auto out = warnings(script);
  EXPECT_THAT(out, Contains(HasSubstr("GPU energy covers only 80 %")));
  EXPECT_THAT(out, Contains(HasSubstr("17 rows could not be written")));
  EXPECT_THAT(out, Contains(HasSubstr("not closed")));
}

TEST(Warnings, ADeviceWithoutFigureIsNamedWithItsReason) {
  auto script = healthy(1);
  script.add(DeviceKind::gpu, 1);
  EXPECT_THAT(warnings(script), Contains(HasSubstr("No energy of GPU 1: the record holds neither energy nor power")));
}

}  // namespace
}  // namespace gradwatt::energy
