#include "gradwatt/backends/model/memory_model.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::model {
namespace {

using ::testing::HasSubstr;

catalog::HostCpu host(const std::string& name, int packages) {
  catalog::HostCpu cpu;
  cpu.model_name = name;
  for (int p = 0; p < packages; ++p) cpu.packages[p].cpus = {p};
  return cpu;
}

TEST(MemoryModel, CountsTheModulesThatTheControllersReport) {
  doubles::MadeTree made;
  const std::string edac = "sys/devices/system/edac/mc/";
  made.file(edac + "mc0/dimm0/size", "65536").file(edac + "mc0/dimm1/size", "0").file(edac + "mc1/dimm0/size", "65536");
  const auto model = make_memory_model(made.tree(), host("a CPU of next year", 2));
  ASSERT_TRUE(model);
  EXPECT_EQ(model->modules, 2);
  EXPECT_DOUBLE_EQ(model->watts, 8);
  EXPECT_THAT(model->rests_on, HasSubstr("controllers report"));
}

TEST(MemoryModel, ElseOneModuleAChannelWithAWiderRange) {
  const doubles::MadeTree made;
  const auto model = make_memory_model(made.tree(), host("AMD EPYC 7763 64-Core Processor", 2));
  ASSERT_TRUE(model);
  EXPECT_EQ(model->modules, 16);
  EXPECT_LE(model->low, 0.2);
  EXPECT_GE(model->high, 4);
  EXPECT_THAT(model->rests_on, HasSubstr("assumption"));
}

TEST(MemoryModel, WithoutAnyHintThereIsNoFigureButAReason) {
  const doubles::MadeTree made;
  const auto model = make_memory_model(made.tree(), host("a CPU of next year", 1));
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, HasSubstr("how many modules"));
}

TEST(MemoryModel, IsNotMadeForAGuest) {
  const doubles::MadeTree made;
  auto cpu = host("AMD EPYC 7763 64-Core Processor", 1);
  cpu.virtual_machine = true;
  EXPECT_THAT(make_memory_model(made.tree(), cpu).error().message, HasSubstr("virtual machine"));
}

}  // namespace
}  // namespace gradwatt::model
