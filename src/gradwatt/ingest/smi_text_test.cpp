#include "gradwatt/ingest/smi_text.hpp"

#include <filesystem>
#include <fstream>

#include "gradwatt/ingest/fact_queries.hpp"

namespace gradwatt::ingest {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;
constexpr auto kGpu = record::DeviceKind::gpu;
constexpr auto kAverage = record::metric(kGpu, "power_avg");
constexpr auto kReasons = record::metric(kGpu, "clock_event_reasons");

std::string table(const std::string& date, const std::string& power, const std::string& processes = "") {
  return date +
         "\n"
         "+-----------------------------------------------------------------------------------------+\n"
         "| NVIDIA-SMI 570.133.20             Driver Version: 570.133.20     CUDA Version: 12.8     |\n"
         "|-----------------------------------------+------------------------+----------------------+\n"
         "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
         "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
         "|                                         |                        |               MIG M. |\n"
         "|=========================================+========================+======================|\n"
         "|   0  NVIDIA H200                    On  |   00000000:8D:00.0 Off |                    3 |\n"
         "| N/A   29C    P0           " +
         power +
         " /  700W |   71881MiB / 143762MiB |     97%      Default |\n"
         "|                                         |                        |             Disabled |\n"
         "+-----------------------------------------+------------------------+----------------------+\n"
         "|   1  NVIDIA H200                   Off  |   00000000:91:00.0 Off |                  Off |\n"
         "|ERR!   27C    P0           ERR! /  700W |       0MiB / 143762MiB |     N/A      Default |\n"
         "|                                         |                        |              Enabled |\n"
         "+-----------------------------------------+------------------------+----------------------+\n\n"
         "+-----------------------------------------------------------------------------------------+\n"
         "| Processes:                                                                              |\n"
         "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |\n"
         "|=========================================================================================|\n" +
         processes + "+-----------------------------------------------------------------------------------------+\n";
}

TEST(SmiTable, OneTableIsOneSampleAndItsFacts) {
  const auto run = read_well(table("Fri Apr 17 00:13:48 2026", "376W",
                                   "|    0   N/A  N/A   3794277      C   python                      11942MiB |\n"));
  ASSERT_EQ(run.run.devices.size(), 2U);
  EXPECT_EQ(run.run.devices[0].name, "NVIDIA H200");
  EXPECT_EQ(run.run.series.at(0).find(kAverage)->at(0), 376);
  EXPECT_EQ(number(run, "gpu.power_avg_w", "GPU 0"), 376);
  EXPECT_EQ(number(run, "gpu.power_limit_w", "GPU 0"), 700);
  EXPECT_EQ(number(run, "gpu.utilization_pct", "GPU 0"), 97);
  EXPECT_EQ(number(run, "gpu.memory_used_share", "GPU 0"), 0.5);
  EXPECT_EQ(number(run, "gpu.ecc_uncorrected", "GPU 0"), 3);
  EXPECT_THAT(text(run, "gpu.driver_version", "GPU 0"), Optional(std::string("570.133.20")));
  EXPECT_THAT(text(run, "gpu.mig_mode", "GPU 1"), Optional(std::string("Enabled")));
  EXPECT_EQ(number(run, "gpu.power_avg_w", "GPU 1"), std::nullopt) << "ERR! is no figure";
  EXPECT_EQ(number(run, "gpu.utilization_pct", "GPU 1"), std::nullopt);
  ASSERT_FALSE(run.run.events.empty());
  EXPECT_THAT(run.run.events.front().text, HasSubstr("ERR!"));
}

TEST(SmiTable, SeveralTablesAreASeriesAndNoFactsOfReadings) {
  const auto run = read_well(table("Fri Apr 17 00:13:48 2026", "300W") + table("Fri Apr 17 00:14:48 2026", "400W"));
  ASSERT_EQ(run.run.series.at(0).size(), 2U);
  EXPECT_EQ(run.run.series.at(0).find(kAverage)->at(1), 400);
  EXPECT_EQ(run.run.series.at(0).time_ns[1] - run.run.series.at(0).time_ns[0], 60'000'000'000);
  EXPECT_EQ(number(run, "gpu.power_avg_w", "GPU 0"), std::nullopt);
  EXPECT_EQ(number(run, "gpu.power_limit_w", "GPU 0"), 700);
}

TEST(SmiTable, ATableWithoutDateIsFactsAlone) {
  const auto run = read_well(table("", "376W"));
  EXPECT_TRUE(run.run.series.empty());
  EXPECT_FALSE(run.run.extent());
  EXPECT_EQ(number(run, "gpu.power_avg_w", "GPU 0"), 376);
  EXPECT_THAT(said(run), HasSubstr("says no time"));
}

TEST(SmiTable, ARowThatWasCutOffIsNotUsed) {
  auto cut = table("Fri Apr 17 00:13:48 2026", "376W");
  cut.resize(cut.find("| N/A   29C"));
  EXPECT_THAT(refused(cut), HasSubstr("hold no figure that can be used"));
}

const std::string kListing =
    "\n==============NVSMI LOG==============\n\n"
    "Timestamp                                 : Thu Mar 14 20:46:07 2024\n"
    "Driver Version                            : 535.86.10\n"
    "CUDA Version                              : 12.2\n\n"
    "Attached GPUs                             : 1\n"
    "GPU 00000001:00:00.0\n"
    "    Product Name                          : NVIDIA H100 80GB HBM3\n"
    "    GPU UUID                              : GPU-1234\n"
    "    Persistence Mode                      : Enabled\n"
    "    MIG Mode\n        Current                           : Disabled\n"
    "    PCI\n        GPU Link Info\n            PCIe Generation\n                Max                       : 5\n"
    "                Current                   : 3\n            Link Width\n                Max                       "
    ": 16x\n"
    "                Current                   : 8x\n"
    "    Fan Speed                             : N/A\n"
    "    Clocks Throttle Reasons\n        Idle                              : Not Active\n"
    "        SW Power Cap                      : Active\n        HW Slowdown                       : Active\n"
    "            HW Thermal Slowdown           : Not Active\n            HW Power Brake Slowdown       : Active\n"
    "    Remapped Rows\n        Uncorrectable Error               : 2\n        Pending                           : "
    "Yes\n"
    "    ECC Errors\n        Volatile\n            SRAM Uncorrectable            : 1\n            DRAM Uncorrectable   "
    "         : 4\n"
    "    Temperature\n        GPU Current Temp                  : 42 C\n        GPU Slowdown Temp                 : 89 "
    "C\n"
    "    GPU Power Readings\n        Average Power Draw                : 71.27 W\n        Current Power Limit          "
    "     : 500.00 W\n"
    "        Default Power Limit               : 700.00 W\n"
    "    Applications Clocks\n        Graphics                          : Requested functionality has been deprecated\n"
    "    Max Clocks\n        SM                                : 1980 MHz\n"
    "    Processes\n        GPU instance ID                   : N/A\n        Process ID                        : 77\n";

TEST(SmiQueryText, TellsLimitsLinksReasonsAndFaults) {
  const auto run = read_well(kListing);
  EXPECT_EQ(number(run, "gpu.pcie_gen", "GPU-1234"), 3);
  EXPECT_EQ(number(run, "gpu.pcie_gen_max", "GPU-1234"), 5);
  EXPECT_EQ(number(run, "gpu.pcie_width", "GPU-1234"), 8);
  EXPECT_EQ(number(run, "gpu.pcie_width_max", "GPU-1234"), 16);
  EXPECT_EQ(number(run, "gpu.held_power_cap_share", "GPU-1234"), 1);
  EXPECT_EQ(number(run, "gpu.held_power_brake_share", "GPU-1234"), 1);
  EXPECT_EQ(number(run, "gpu.held_thermal_share", "GPU-1234"), 0);
  EXPECT_EQ(number(run, "gpu.row_remap_pending", "GPU-1234"), 1);
  EXPECT_EQ(number(run, "gpu.ecc_uncorrected", "GPU-1234"), 5);
  EXPECT_EQ(number(run, "gpu.power_limit_w", "GPU-1234"), 500);
  EXPECT_EQ(number(run, "gpu.power_limit_default_w", "GPU-1234"), 700);
  EXPECT_EQ(number(run, "gpu.sm_clock_max_mhz", "GPU-1234"), 1980);
  ASSERT_EQ(run.run.series.size(), 1U);
  EXPECT_EQ(run.run.series[0].find(kAverage)->at(0), 71.27);
  EXPECT_EQ(run.run.series[0].find(kReasons)->at(0), 4 + 8 + 128);
  EXPECT_EQ(run.run.devices[0].attributes.at("temperature_slowdown_c"), "89");
  EXPECT_EQ(run.run.devices[0].attributes.at("remapped_rows_uncorrectable"), "2");
}

TEST(SmiQueryText, APastedPieceIsReadWithoutItsHead) {
  const auto run = read_well(
      "Clocks Event Reasons\n    SW Power Cap                      : Not Active\n    HW Slowdown                       "
      ": Active\n"
      "        HW Thermal Slowdown           : Active\n\nClocks\n    SM                                : 382 MHz\n");
  EXPECT_EQ(number(run, "gpu.held_thermal_share", "GPU 0"), 1);
  EXPECT_EQ(number(run, "gpu.sm_clock_mhz", "GPU 0"), 382);
}

TEST(SmiQueryText, PagesThatWaitForRetirementAreTheGpusOnTheBus) {
  const auto run = read_well(
      "==============NVSMI LOG==============\nAttached GPUs                             : 1\nGPU 00000002:00:00.0\n"
      "    Retired Pages\n        Double Bit ECC                    : 61\n        Pending Page Blacklist            : "
      "Yes\n");
  EXPECT_EQ(number(run, "gpu.row_remap_pending", "PCI 0002:00:00"), 1);
  EXPECT_EQ(run.run.devices.at(0).attributes.at("retired_pages_double_bit"), "61");
}

const std::string kMonitor =
    "# gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk \n# Idx      W      C      C      %      %    MHz    MHz \n"
    "    0    100     42      -     90     20   2619   1980 \n    1     70     42     48      -      -   2619    345 \n"
    "    0    200     50      -     80     20   2619   1980 \n    1     72     42     48      -      -   2619    345 "
    "\n";

TEST(SmiMonitor, WithoutTimesItsMeansAreFacts) {
  const auto run = read_well(kMonitor);
  EXPECT_TRUE(run.run.series.empty());
  EXPECT_EQ(number(run, "gpu.power_avg_w", "GPU 0"), 150);
  EXPECT_EQ(number(run, "gpu.utilization_pct", "GPU 0"), 85);
  EXPECT_EQ(number(run, "gpu.temperature_c", "GPU 0"), 50) << "the highest";
  EXPECT_EQ(number(run, "gpu.utilization_pct", "GPU 1"), std::nullopt);
}

TEST(SmiMonitor, AnIntervalOrItsOwnClockMakesASeries) {
  const auto by_interval = read_well(kMonitor, {.interval = std::chrono::seconds(1)});
  ASSERT_EQ(by_interval.run.series.size(), 2U);
  EXPECT_EQ(by_interval.run.series[0].time_ns[1], 1'000'000'000);
  const auto by_clock = read_well(
      "#Date       Time        gpu    pwr \n#YYYYMMDD   HH:MM:SS    Idx      W \n 20240131   12:00:00      0    100 \n"
      " 20240131   12:00:05      0    110 \n");
  ASSERT_EQ(by_clock.run.series.size(), 1U);
  EXPECT_EQ(by_clock.run.series[0].time_ns[1] - by_clock.run.series[0].time_ns[0], 5'000'000'000);
}

TEST(SmiMonitor, ProcessRowsAreNotReadings) {
  EXPECT_THAT(
      refused("# gpu         pid   type     sm    mem    command \n# Idx           #    C/G      %      %    name \n"
              "    0       4711     C     90     20    python \n"),
      HasSubstr("line 1"));
}

TEST(SmiLinks, CountsLinksThatAreUp) {
  const auto run = read_well(
      "GPU 7: NVIDIA A100-SXM4-80GB (UUID: GPU-7)\n\t Link 0: 25 GB/s\n\t Link 1: <inactive>\n\t Link 2: 25 GB/s\n"
      "GPU 6: NVIDIA A100-SXM4-80GB (UUID: GPU-6)\nNVML: Unable to retrieve NVLink information as all links are "
      "inactive\n");
  EXPECT_EQ(number(run, "gpu.nvlink_links_up", "GPU-7"), 2);
  EXPECT_EQ(number(run, "gpu.nvlink_links", "GPU-7"), 3);
  EXPECT_EQ(number(run, "gpu.nvlink_links_up", "GPU-6"), 0);
  EXPECT_EQ(number(run, "gpu.nvlink_links", "GPU-6"), std::nullopt);
}

TEST(SmiLinks, AGpuWithoutUuidIsNotListed) {
  EXPECT_THAT(refused("GPU 7: NVIDIA A100-SXM4-80GB (UUID: )\n\t Link 0: 25 GB/s\n"), HasSubstr("line 1"));
}

TEST(SmiText, QueryTablesBetweenAreReadToo) {
  const auto run =
      read_well("some head\n" + kListing +
                "\n\ntimestamp, index, uuid, power.draw [W]\n2024/03/14 20:46:10.000, 0, GPU-1234, 80.00 W\n"
                "2024/03/14 20:46:11.000, 0, GPU-1234, 90.00 W\n");
  ASSERT_EQ(run.run.devices.size(), 1U);
  EXPECT_EQ(run.run.series.at(0).size(), 3U);
  EXPECT_EQ(number(run, "gpu.pcie_gen", "GPU-1234"), 3);
}

TEST(SmiText, AGpuOfTheBusGetsItsUuidFromAnotherFile) {
  const auto folder = std::filesystem::path(::testing::TempDir());
  const std::vector files{folder / "gradwatt-lspci", folder / "gradwatt-smi-q"};
  std::ofstream(files[0])
      << "01:00.0 3D controller: NVIDIA Corporation X\n\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16\n";
  std::ofstream(files[1])
      << "==============NVSMI LOG==============\nAttached GPUs  : 1\nGPU 00000000:01:00.0\n    GPU UUID     : GPU-9\n"
         "    Persistence Mode    : Enabled\n";
  const auto imported = import_files(files);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(number(*imported, "gpu.pcie_gen_max", "GPU-9"), 4);
  for (const auto& file : files) std::filesystem::remove(file);
}

}  // namespace
}  // namespace gradwatt::ingest
