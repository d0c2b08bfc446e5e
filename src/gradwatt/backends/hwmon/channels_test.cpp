#include "gradwatt/backends/hwmon/channels.hpp"

#include <gtest/gtest.h>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::hwmon {
namespace {

using record::DeviceKind;
using record::metric;

void grace_meter(doubles::MadeTree& made, int n, const std::string& label) {
  const auto base = "sys/class/hwmon/hwmon" + std::to_string(n);
  made.file(base + "/name", "power_meter")
      .file(base + "/device/power1_average", "150000000")
      .file(base + "/device/power1_average_interval", "50")
      .file(base + "/device/power1_oem_info", label);
}

TEST(GraceChannels, ModuleAndGraceCountTheirPartsDoNot) {
  doubles::MadeTree made;
  grace_meter(made, 0, "Module Power Socket 0");
  grace_meter(made, 1, "Grace Power Socket 0");
  grace_meter(made, 2, "CPU Power Socket 0");
  grace_meter(made, 3, "SysIO Power Socket 0");
  grace_meter(made, 4, "Grace Power Socket 1");
  const auto found = find_channels(made.tree());
  ASSERT_EQ(found.used.size(), 3u);
  EXPECT_EQ(found.used[0].metric, metric(DeviceKind::node, "power_module"));
  EXPECT_EQ(found.used[1].metric, metric(DeviceKind::cpu, "power"));
  EXPECT_EQ(found.used[1].uuid, "cpu-package-0");
  EXPECT_EQ(found.used[1].scope, "package and memory");
  EXPECT_EQ(found.used[2].uuid, "cpu-package-1");
  EXPECT_EQ(found.used[2].update_period, std::chrono::milliseconds(50));
  ASSERT_EQ(found.ignored.size(), 2u);
  EXPECT_NE(found.ignored[0].reason.find("inside the Grace meter"), std::string::npos);
}

TEST(AmdEnergyChannels, SocketsCountCoresAreInside) {
  doubles::MadeTree made;
  const std::string base = "sys/class/hwmon/hwmon2";
  made.file(base + "/name", "amd_energy");
  for (const auto& [n, label] : {std::pair{1, "Ecore000"}, {2, "Ecore001"}, {3, "Esocket0"}, {4, "Esocket1"}})
    made.file(base + "/energy" + std::to_string(n) + "_input", "1000")
        .file(base + "/energy" + std::to_string(n) + "_label", label);
  const auto found = find_channels(made.tree());
  ASSERT_EQ(found.used.size(), 2u);
  EXPECT_EQ(found.used[0].metric, metric(DeviceKind::cpu, "energy"));
  EXPECT_EQ(found.used[1].uuid, "cpu-package-1");
  EXPECT_EQ(found.ignored.size(), 1u);
}

TEST(OtherChannels, CountOnlyWhenTheirLabelNamesTheNode) {
  doubles::MadeTree made;
  const std::string base = "sys/class/hwmon/hwmon0";
  made.file(base + "/name", "pmbus")
      .file(base + "/power1_input", "1")
      .file(base + "/power1_label", "Total System Power")
      .file(base + "/power2_input", "1")
      .file(base + "/power2_label", "pin1")
      .file(base + "/power3_input", "1")
      .file("sys/class/hwmon/hwmon1/name", "nvme")
      .file("sys/class/hwmon/hwmon1/temp1_input", "40000");
  const auto found = find_channels(made.tree());
  ASSERT_EQ(found.used.size(), 1u);
  EXPECT_EQ(found.used[0].metric, metric(DeviceKind::node, "power"));
  EXPECT_EQ(found.used[0].name, "Total System Power");
  ASSERT_EQ(found.ignored.size(), 2u);
  EXPECT_NE(found.ignored[0].reason.find("pin1"), std::string::npos);
  EXPECT_NE(found.ignored[1].reason.find("no label"), std::string::npos);
}

TEST(OtherChannels, AnAcpiMeterWithoutALabelIsNotTakenForTheNode) {
  doubles::MadeTree made;
  grace_meter(made, 0, "");
  const auto found = find_channels(made.tree());
  EXPECT_TRUE(found.used.empty());
  EXPECT_EQ(found.ignored.size(), 1u);
}

TEST(OtherChannels, AverageAndInputOfOneChannelAreOneMeter) {
  doubles::MadeTree made;
  const std::string base = "sys/class/hwmon/hwmon0";
  made.file(base + "/name", "board")
      .file(base + "/power1_input", "1")
      .file(base + "/power1_average", "2")
      .file(base + "/power1_label", "chassis");
  const auto found = find_channels(made.tree());
  ASSERT_EQ(found.used.size(), 1u);
  EXPECT_TRUE(found.used[0].file.ends_with("power1_average"));
}

TEST(NamesTheNode, WantsTheWholeWord) {
  EXPECT_TRUE(names_the_node("NODE_POWER"));
  EXPECT_TRUE(names_the_node("chassis: input"));
  EXPECT_FALSE(names_the_node("systemd"));
  EXPECT_FALSE(names_the_node("PPT"));
  EXPECT_FALSE(names_the_node(""));
}

TEST(NoHwmon, IsNothing) {
  const doubles::MadeTree made;
  const auto found = find_channels(made.tree());
  EXPECT_TRUE(found.used.empty() && found.ignored.empty());
}

}  // namespace
}  // namespace gradwatt::hwmon
