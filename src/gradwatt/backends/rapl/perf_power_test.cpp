#include "gradwatt/backends/rapl/perf_power.hpp"

#include <gtest/gtest.h>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::rapl {
namespace {

constexpr const char* kPmu = "sys/bus/event_source/devices/power/";

doubles::MadeTree& event(doubles::MadeTree& made, const std::string& name, const std::string& code,
                         const std::string& scale = "2.3283064365386962890625e-10") {
  const auto base = std::string(kPmu) + "events/" + name;
  return made.file(base, "event=" + code).file(base + ".scale", scale).file(base + ".unit", "Joules");
}

doubles::MadeTree& cpu(doubles::MadeTree& made, int id, int package, int die) {
  const auto base = "sys/devices/system/cpu/cpu" + std::to_string(id) + "/topology/";
  return made.file(base + "physical_package_id", std::to_string(package)).file(base + "die_id", std::to_string(die));
}

TEST(PerfPower, ReadsEventsScaleAndOneSiteAPackage) {
  doubles::MadeTree made;
  made.file(std::string(kPmu) + "type", "24").file(std::string(kPmu) + "cpumask", "0,28");
  event(made, "energy-pkg", "0x02");
  event(made, "energy-ram", "0x03");
  cpu(made, 0, 0, 0);
  cpu(made, 28, 1, 0);
  const auto power = find_perf_power(made.tree());
  ASSERT_TRUE(power);
  EXPECT_EQ(power->type, 24u);
  EXPECT_EQ(power->package->config, 2u);
  EXPECT_DOUBLE_EQ(power->package->joules_per_count, 0x1p-32);
  EXPECT_EQ(power->dram->config, 3u);
  ASSERT_EQ(power->sites.size(), 2u);
  EXPECT_EQ(power->sites[1].package, 1);
  EXPECT_FALSE(power->sites[1].die);
}

TEST(PerfPower, DiesOfOnePackageAreSitesAndTheSameDieTwiceIsOne) {
  doubles::MadeTree made;
  made.file(std::string(kPmu) + "type", "24").file(std::string(kPmu) + "cpumask", "0-2");
  event(made, "energy-pkg", "0x02");
  cpu(made, 0, 0, 0);
  cpu(made, 1, 0, 1);
  cpu(made, 2, 0, 1);
  const auto power = find_perf_power(made.tree());
  ASSERT_TRUE(power);
  ASSERT_EQ(power->sites.size(), 2u);
  EXPECT_EQ(power->sites[1].die, 1);
  EXPECT_FALSE(power->dram);
}

TEST(PerfPower, AnEventInAnUnknownUnitIsNotTaken) {
  doubles::MadeTree made;
  made.file(std::string(kPmu) + "type", "24").file(std::string(kPmu) + "cpumask", "0");
  event(made, "energy-pkg", "0x02").file(std::string(kPmu) + "events/energy-pkg.unit", "Calories");
  event(made, "energy-ram", "two");
  const auto power = find_perf_power(made.tree());
  ASSERT_TRUE(power);
  EXPECT_FALSE(power->package);
  EXPECT_FALSE(power->dram);
}

TEST(PerfPower, AMissingPmuIsNotFoundAndAnUnreadableMaskSaysSo) {
  doubles::MadeTree made;
  EXPECT_EQ(find_perf_power(made.tree()).error().code, core::Errc::not_found);
  made.file(std::string(kPmu) + "type", "24").file(std::string(kPmu) + "cpumask", "all of them");
  const auto power = find_perf_power(made.tree());
  ASSERT_FALSE(power);
  EXPECT_EQ(power.error().code, core::Errc::unusable_input);
  EXPECT_NE(power.error().message.find("all of them"), std::string::npos);
}

}  // namespace
}  // namespace gradwatt::rapl
