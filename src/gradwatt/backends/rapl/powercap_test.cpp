#include "gradwatt/backends/rapl/powercap.hpp"

#include <gtest/gtest.h>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::rapl {
namespace {

constexpr std::string_view kRoot = "sys/class/powercap/";

void zone(doubles::MadeTree& made, const std::string& entry, const std::string& name) {
  made.file(std::string(kRoot) + entry + "/name", name)
      .file(std::string(kRoot) + entry + "/energy_uj", "1000")
      .file(std::string(kRoot) + entry + "/max_energy_range_uj", "262143328850");
}

TEST(Powercap, CountsPackagesAndTheirMemoryAndNothingInsideOrAroundThem) {
  doubles::MadeTree made;
  zone(made, "intel-rapl:0", "package-0");
  zone(made, "intel-rapl:0:0", "core");
  zone(made, "intel-rapl:0:1", "uncore");
  zone(made, "intel-rapl:0:2", "dram");
  zone(made, "intel-rapl:1", "psys");
  zone(made, "intel-rapl-mmio:0", "package-0");
  const auto found = find_powercap(made.tree());
  ASSERT_EQ(found.zones.size(), 2u);
  EXPECT_EQ(found.zones[0].kind, PowercapZone::Kind::package);
  EXPECT_EQ(found.zones[0].range_uj, 262143328850);
  EXPECT_EQ(found.zones[1].kind, PowercapZone::Kind::dram);
  EXPECT_EQ(found.zones[1].folder, "sys/class/powercap/intel-rapl:0:2");
  EXPECT_TRUE(found.has_mmio_twin);
  EXPECT_TRUE(found.has_psys);
}

TEST(Powercap, DiesOfOnePackageAreZonesOfTheirOwn) {
  doubles::MadeTree made;
  zone(made, "intel-rapl:0", "package-0-die-0");
  zone(made, "intel-rapl:1", "package-0-die-1");
  zone(made, "intel-rapl:1:0", "dram");
  const auto found = find_powercap(made.tree());
  ASSERT_EQ(found.zones.size(), 3u);
  EXPECT_EQ(found.zones[1].die, 1);
  EXPECT_EQ(found.zones[2].package, 0);
  EXPECT_EQ(found.zones[2].die, 1);
}

TEST(Powercap, TakesTheLargestStatedLimitAndIgnoresZero) {
  doubles::MadeTree made;
  zone(made, "intel-rapl:0", "package-0");
  made.file("sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw", "205000000")
      .file("sys/class/powercap/intel-rapl:0/constraint_1_max_power_uw", "413000000");
  zone(made, "intel-rapl:1", "package-1");
  made.file("sys/class/powercap/intel-rapl:1/constraint_0_max_power_uw", "0");
  const auto found = find_powercap(made.tree());
  EXPECT_EQ(found.zones[0].max_power_uw, 413000000);
  EXPECT_FALSE(found.zones[1].max_power_uw);
}

TEST(Powercap, ATreeThatIsListedButCannotBeOpenedIsMasked) {
  doubles::MadeTree made;
  made.broken_link("sys/class/powercap/intel-rapl:0");
  const auto found = find_powercap(made.tree());
  EXPECT_TRUE(found.masked);
  EXPECT_TRUE(found.zones.empty());
}

TEST(Powercap, GarbageInAZoneLeavesOnlyThatZoneOut) {
  doubles::MadeTree made;
  zone(made, "intel-rapl:0", "package-x");
  zone(made, "intel-rapl:1", "package-1");
  made.file("sys/class/powercap/intel-rapl:1/max_energy_range_uj", "lots");
  const auto found = find_powercap(made.tree());
  ASSERT_EQ(found.zones.size(), 1u);
  EXPECT_FALSE(found.zones[0].range_uj);
}

}  // namespace
}  // namespace gradwatt::rapl
