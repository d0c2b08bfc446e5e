#include "gradwatt/backends/model/cpu_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradwatt::model {
namespace {

using ::testing::HasSubstr;

catalog::HostCpu host(const std::string& name, int packages, int cores, bool guest = false) {
  catalog::HostCpu cpu;
  cpu.model_name = name;
  cpu.virtual_machine = guest;
  for (int p = 0; p < packages; ++p) {
    auto& package = cpu.packages[p];
    package.cores = cores;
    for (int i = 0; i < 2 * cores; ++i) package.cpus.push_back(p * 2 * cores + i);
  }
  return cpu;
}

TEST(CpuModel, AKnownCpuTakesItsDesignPowerForEachPackage) {
  const auto models = make_cpu_models(host("AMD EPYC 7763 64-Core Processor", 2, 64));
  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[1].full_w, 280);
  EXPECT_LT(models[0].low, 1);
  EXPECT_GT(models[0].high, 1);
  EXPECT_THAT(models[0].rests_on, HasSubstr("280 W"));
}

TEST(CpuModel, WhereTheVendorStatesATurboPowerItIsTheFullPower) {
  EXPECT_EQ(make_cpu_models(host("13th Gen Intel(R) Core(TM) i9-13900K", 1, 24)).at(0).full_w, 253);
}

TEST(CpuModel, AGuestHasOnlyItsOwnShare) {
  const auto models = make_cpu_models(host("AMD EPYC 7763 64-Core Processor", 1, 4, true));
  EXPECT_DOUBLE_EQ(models.at(0).full_w, 280.0 * 4 / 64);
  EXPECT_THAT(models[0].rests_on, HasSubstr("guest's share"));
  EXPECT_GT(models[0].high, make_cpu_models(host("AMD EPYC 7763 64-Core Processor", 1, 64)).at(0).high);
}

TEST(CpuModel, AGuestWithoutAModelNumberIsNotTakenForSomeEpyc) {
  const auto models = make_cpu_models(host("AMD EPYC", 1, 2, true));
  EXPECT_DOUBLE_EQ(models.at(0).full_w, 5.0 * 2);
  EXPECT_THAT(models[0].rests_on, HasSubstr("not in the CPU table"));
  EXPECT_LE(models[0].low, 0.25);
  EXPECT_GE(models[0].high, 4);
}

TEST(CpuModel, TheRangeOfAnUnknownCpuHoldsTheFullPowerOfEveryCpuInTheTable) {
  for (const auto* name : {"AMD EPYC 9754 128-Core Processor", "AMD EPYC 7262 8-Core Processor"}) {
    const bool large = std::string(name).find("9754") != std::string::npos;
    const int cores = large ? 128 : 8;
    const double truth = make_cpu_models(host(name, 1, cores)).at(0).full_w;
    const auto guess = make_cpu_models(host("a CPU of next year", 1, cores)).at(0);
    EXPECT_GE(truth, guess.low * guess.full_w) << name;
    EXPECT_LE(truth, guess.high * guess.full_w) << name;
  }
}

TEST(CpuModel, AHostWithoutKnownCpusHasNoModel) { EXPECT_TRUE(make_cpu_models({}).empty()); }

}  // namespace
}  // namespace gradwatt::model
