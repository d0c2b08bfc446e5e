#include "gradwatt/ingest/smi_xml.hpp"

#include "gradwatt/ingest/fact_queries.hpp"

namespace gradwatt::ingest {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
constexpr auto kAverage = record::metric(record::DeviceKind::gpu, "power_avg");

std::string document(const std::string& gpus, const std::string& time = "Fri Aug  4 11:44:30 2023") {
  return "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "
         "\"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n<timestamp>" +
         time + "</timestamp>\n<driver_version>535.54.03</driver_version>\n" + gpus + "</nvidia_smi_log>\n";
}
const std::string kNew =
    "<gpu id=\"00000000:01:00.0\"><product_name>NVIDIA H100</product_name><uuid>GPU-1</uuid>"
    "<clocks_event_reasons><clocks_event_reason_sw_power_cap>Active</clocks_event_reason_sw_power_cap></"
    "clocks_event_reasons>"
    "<pci><pci_gpu_link_info><pcie_gen><max_link_gen>5</max_link_gen><current_link_gen>4</current_link_gen></pcie_gen>"
    "<link_widths><max_link_width>16x</max_link_width></link_widths></pci_gpu_link_info></pci>"
    "<utilization><gpu_util>N/A</gpu_util></utilization><temperature><gpu_temp>27 C</gpu_temp></temperature>"
    "<mig_devices><mig_device><index>0</index></mig_device><mig_device><index>1</index></mig_device></mig_devices>"
    "<gpu_power_readings><average_power_draw>350.50 W</average_power_draw><current_power_limit>500.00 "
    "W</current_power_limit>"
    "<default_power_limit>700.00 W</default_power_limit></gpu_power_readings>"
    "<processes><process_info><pid>7</pid></process_info></processes></gpu>";

TEST(SmiXml, ReadsTheNewerDocument) {
  const auto run = read_well(document(kNew));
  EXPECT_EQ(run.rows, 1U);
  EXPECT_EQ(run.run.series.at(0).find(kAverage)->at(0), 350.5);
  EXPECT_EQ(number(run, "gpu.power_limit_w", "GPU-1"), 500);
  EXPECT_EQ(number(run, "gpu.pcie_gen", "GPU-1"), 4);
  EXPECT_EQ(number(run, "gpu.pcie_width_max", "GPU-1"), 16);
  EXPECT_EQ(number(run, "gpu.held_power_cap_share", "GPU-1"), 1);
  EXPECT_EQ(number(run, "gpu.utilization_pct", "GPU-1"), std::nullopt);
  EXPECT_EQ(run.run.devices.at(0).attributes.at("mig_slices"), "2");
  EXPECT_THAT(text(run, "gpu.driver_version", "GPU-1"), Optional(std::string("535.54.03")));
}

TEST(SmiXml, ReadsTheOlderDocument) {
  const auto run = read_well(document(
      "<gpu id=\"0000:01:00.0\"><uuid>GPU-1</uuid><clocks_throttle_reasons><clocks_throttle_reason_hw_slowdown>Active"
      "</clocks_throttle_reason_hw_slowdown></clocks_throttle_reasons><power_readings><power_draw>61.00 W</power_draw>"
      "<power_limit>250.00 W</power_limit><enforced_power_limit>200.00 W</enforced_power_limit></power_readings>"
      "<ecc_errors><volatile><double_bit><total>2</total></double_bit></volatile></ecc_errors></gpu>"));
  EXPECT_EQ(number(run, "gpu.power_limit_w", "GPU-1"), 200);
  EXPECT_EQ(number(run, "gpu.held_hw_slowdown_share", "GPU-1"), 1);
  EXPECT_EQ(number(run, "gpu.ecc_uncorrected", "GPU-1"), 2);
}

TEST(SmiXml, Utf16IsReadLikeTheRest) {
  std::string wide("\xFF\xFE");
  for (const char c : document(kNew)) wide += c, wide += '\0';
  EXPECT_EQ(number(read_well(wide), "gpu.power_limit_w", "GPU-1"), 500);
}

TEST(SmiXml, DocumentsBehindEachOtherAreASeries) {
  const auto run = read_well(document(kNew) + document(kNew, "Fri Aug  4 11:44:40 2023"));
  EXPECT_EQ(run.run.series.at(0).size(), 2U);
  EXPECT_EQ(run.rows, 2U);
}

TEST(SmiXml, ADocumentThatWasCutOffIsSaidAndTheRestKept) {
  const auto whole = document(kNew);
  const auto run = read_well(whole + whole.substr(0, whole.size() / 2));
  EXPECT_EQ(run.run.series.at(0).size(), 1U);
  EXPECT_EQ(run.run.text(record::meta::kComplete), "0");
  EXPECT_THAT(said(run), HasSubstr("line 7: no valid XML"));
  EXPECT_THAT(refused(whole.substr(0, whole.size() / 2)), HasSubstr("line 1: no valid XML"));
}

TEST(SmiXml, EntitiesAreNotExpanded) {
  std::string bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE nvidia_smi_log [ <!ENTITY a \"aaaaaaaaaa\">\n";
  for (char c = 'b'; c < 'k'; ++c)
    bomb += std::string("<!ENTITY ") + c + " \"&" + char(c - 1) + ";&" + char(c - 1) + ";&" + char(c - 1) + ";\">\n";
  bomb +=
      "]>\n<nvidia_smi_log><gpu "
      "id=\"01:00.0\"><product_name>&j;</product_name><uuid>GPU-1</uuid></gpu></nvidia_smi_log>\n";
  const auto imported = import_text("bomb.xml", bomb);
  if (imported) {
    EXPECT_LT(imported->run.devices.at(0).name.size(), 10U);
  }
}

TEST(SmiXml, HostileDepthSizeAndRootsEndInAMessage) {
  std::string deep = "<nvidia_smi_log><gpu id=\"1\">";
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_THAT(refused(deep), HasSubstr("line 1"));
  EXPECT_THAT(refused("<nvidia_smi_log>" + std::string(kMaxSmiDocumentBytes + 10, '\n')), HasSubstr("line 1"));
  EXPECT_THAT(refused("<!-- nvsmi_device --><html></html>"), HasSubstr("the root is 'html'"));
  EXPECT_THAT(refused(document("")), HasSubstr("it lists no GPU"));
}

}  // namespace
}  // namespace gradwatt::ingest
