#include "gradwatt/backends/nvml/nvml_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/doubles/fake_nvml/fake_driver.hpp"

namespace gradwatt::nvml {
namespace {

using namespace std::chrono_literals;
using doubles::FakeDriver;
using testing::HasSubstr;

std::vector<telemetry::SourceStatus> probe(const std::string& script, core::Duration patience = 5s) {
  FakeDriver driver(script);
  return NvmlBackend({.library_path = driver.path(), .probe_timeout = patience}).probe();
}

TEST(NvmlProbe, SaysWhatIsHere) {
  const auto lines = probe("h100*8");
  ASSERT_EQ(lines.size(), 2U) << "energy, activity; no MIG line where MIG is off";
  EXPECT_TRUE(lines[0].usable);
  EXPECT_THAT(lines[0].detail, HasSubstr("8 × NVIDIA H100 80GB HBM3, driver 550.54.15"));
  EXPECT_TRUE(lines[1].usable);
  EXPECT_TRUE(lines[1].remedy.empty());
}

TEST(NvmlProbe, BeforeHopperThereIsNoActivityAndNothingMendsIt) {
  const auto lines = probe("a100*2");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_FALSE(lines[1].usable);
  EXPECT_THAT(lines[1].detail, HasSubstr("not supported"));
  EXPECT_TRUE(lines[1].remedy.empty());
}

TEST(NvmlProbe, ActivityThatNeedsARightNamesTheRemedy) {
  const auto lines = probe("h100; fault=return(nvmlGpmSampleGet,4)");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_FALSE(lines[1].usable);
  EXPECT_THAT(lines[1].remedy, HasSubstr("NVreg_RestrictProfilingToAdminUsers"));
}

TEST(NvmlProbe, MigHasItsOwnLine) {
  const auto lines = probe("h100; mig=3g,2g");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[2].usable);
  EXPECT_THAT(lines[2].detail, HasSubstr("2 slices on 1 GPU"));
}

TEST(NvmlProbe, MissingReadingsAreCounted) {
  const auto lines = probe("vgpu");
  EXPECT_FALSE(lines.at(0).usable);
  EXPECT_THAT(lines[0].detail, HasSubstr("energy counter on 0 of 1"));
  EXPECT_THAT(lines[0].detail, HasSubstr("vGPU"));
}

struct Refusal {
  const char* script;
  const char* detail;
  const char* remedy;
};
class NvmlProbeRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(NvmlProbeRefusal, IsToldApartAndHasItsRemedy) {
  const auto lines = probe(GetParam().script);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_FALSE(lines[0].usable);
  EXPECT_THAT(lines[0].detail, HasSubstr(GetParam().detail));
  EXPECT_THAT(lines[0].remedy, HasSubstr(GetParam().remedy));
}

INSTANTIATE_TEST_SUITE_P(
    Nvml, NvmlProbeRefusal,
    testing::Values(Refusal{"h100; fault=return(nvmlInit,9)", "kernel driver is not loaded", "modprobe nvidia"},
                    Refusal{"h100; fault=return(nvmlInit,18)", "different versions", "reboot"},
                    Refusal{"h100; fault=return(nvmlInit,4)", "no permission", "ls -l /dev/nvidia*"},
                    Refusal{"h100; fault=return(nvmlDeviceGetHandleByIndex,17)", "device cgroup", "/dev/nvidia*"},
                    Refusal{"none", "shows no GPU", "batch system"}));

TEST(NvmlProbe, WithoutALibraryItSaysSo) {
  const auto lines = NvmlBackend({.library_path = "/nonexistent/libnvidia-ml.so.1"}).probe();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_FALSE(lines[0].usable);
  EXPECT_THAT(lines[0].detail, HasSubstr("no NVIDIA driver library"));
  EXPECT_THAT(lines[0].remedy, HasSubstr("install the NVIDIA driver"));
}

TEST(NvmlProbe, AHangingDriverDoesNotHangIt) {
  FakeDriver driver("h100; fault=hang(nvmlInit,100ms)");
  const auto lines = NvmlBackend({.library_path = driver.path(), .probe_timeout = 10ms}).probe();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_FALSE(lines[0].usable);
  EXPECT_THAT(lines[0].detail, HasSubstr("did not answer"));
  // The thread that was left behind must be done before the next test sets another script.
  while (driver.calls("nvmlShutdown") == 0) std::this_thread::sleep_for(1ms);
}

TEST(NvmlOpen, AnErrorSaysWhatToDo) {
  FakeDriver driver("h100; fault=return(nvmlInit,18)");
  const telemetry::JobScope::Snapshot job;
  const auto sensors = NvmlBackend({.library_path = driver.path()}).open({driver.clock, job, 1s, {}});
  ASSERT_FALSE(sensors);
  EXPECT_EQ(sensors.error().code, core::Errc::not_supported);
  EXPECT_THAT(sensors.error().message, HasSubstr("reboot"));
}

}  // namespace
}  // namespace gradwatt::nvml
