#include "gradwatt/catalog/host_cpu.hpp"

#include <gtest/gtest.h>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::catalog {
namespace {

TEST(HostCpu, CountsPackagesCoresAndThreads) {
  doubles::MadeTree made;
  made.file("proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz\n"
            "physical id\t: 0\ncore id\t\t: 0\nflags\t\t: fpu vme\n\n"
            "processor\t: 1\nphysical id\t: 1\ncore id\t\t: 0\n\n"
            "processor\t: 2\nphysical id\t: 0\ncore id\t\t: 0\n\n"
            "processor\t: 3\nphysical id\t: 1\ncore id\t\t: 0\n");
  const auto cpu = read_host_cpu(made.tree());
  EXPECT_EQ(cpu.vendor, "GenuineIntel");
  EXPECT_FALSE(cpu.virtual_machine);
  ASSERT_EQ(cpu.packages.size(), 2u);
  EXPECT_EQ(cpu.packages.at(0).cpus, (std::vector{0, 2}));
  EXPECT_EQ(cpu.packages.at(1).cores, 1);
  EXPECT_EQ(cpu.threads(), 4);
  EXPECT_EQ(cpu.cores(), 2);
}

TEST(HostCpu, TakesArmPackagesFromSysfs) {
  doubles::MadeTree made;
  made.file("proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n\nprocessor\t: 1\n")
      .file("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0")
      .file("sys/devices/system/cpu/cpu1/topology/physical_package_id", "1");
  const auto cpu = read_host_cpu(made.tree());
  EXPECT_EQ(cpu.vendor, "ARM");
  EXPECT_EQ(cpu.model_name, "ARM 0x41 0xd4f");
  EXPECT_EQ(cpu.packages.size(), 2u);
}

TEST(HostCpu, SeesThatItIsAVirtualMachine) {
  doubles::MadeTree made;
  made.file("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor lahf_lm\n");
  EXPECT_TRUE(read_host_cpu(made.tree()).virtual_machine);
}

TEST(HostCpu, AHostWithoutCpuinfoHasNoPackages) {
  doubles::MadeTree made;
  EXPECT_TRUE(read_host_cpu(made.tree()).packages.empty());
}

TEST(CpuList, ReadsRangesAndRefusesOtherText) {
  EXPECT_EQ(parse_cpu_list("0-2,8"), (std::vector{0, 1, 2, 8}));
  EXPECT_EQ(parse_cpu_list("5\n"), std::vector{5});
  EXPECT_FALSE(parse_cpu_list("0-"));
  EXPECT_FALSE(parse_cpu_list("3-1"));
  EXPECT_FALSE(parse_cpu_list("none"));
}

}  // namespace
}  // namespace gradwatt::catalog
