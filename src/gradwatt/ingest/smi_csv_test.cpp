#include "gradwatt/ingest/smi_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gradwatt/ingest/import.hpp"

namespace gradwatt::ingest {
namespace {

using record::DeviceKind;
using record::metric;
using ::testing::HasSubstr;
constexpr auto kAverage = metric(DeviceKind::gpu, "power_avg");
constexpr auto kInstant = metric(DeviceKind::gpu, "power_inst");
constexpr auto kUtilization = metric(DeviceKind::gpu, "utilization");
constexpr auto kMemory = metric(DeviceKind::gpu, "memory_used");
constexpr auto kReasons = metric(DeviceKind::gpu, "clock_event_reasons");
constexpr auto kHeldCap = metric(DeviceKind::gpu, "held_power_cap");
constexpr auto kLimit = metric(DeviceKind::gpu, "power_limit_enforced");
constexpr std::int64_t kS = 1'000'000'000;

Imported read(const std::string& text, const ImportOptions& options = {}, const std::string& name = "log.csv") {
  auto imported = import_text(name, text, options);
  EXPECT_TRUE(imported) << imported.error().message;
  return imported ? std::move(*imported) : Imported{};
}
std::string refusal(const std::string& text, const ImportOptions& options = {}) {
  const auto imported = import_text("log.csv", text, options);
  EXPECT_FALSE(imported) << "was taken";
  return imported ? "" : imported.error().message;
}
std::string all_of(const Imported& imported) {
  std::string all;
  for (const auto& diagnostic : imported.diagnostics) all += format(diagnostic) + "\n";
  return all;
}
/// Values of one metric, −1 where missing.
std::vector<double> values(const Imported& imported, std::size_t device, record::MetricId id) {
  std::vector<double> all;
  if (device >= imported.run.series.size()) return all;
  const auto* column = imported.run.series[device].find(id);
  for (std::size_t i = 0; column != nullptr && i < column->values.size(); ++i)

    all.push_back(std::round(column->at(i).value_or(-1) * 1e9) / 1e9);
  return all;
}
using Values = std::vector<double>;

constexpr const char* kTwoGpus =
    "timestamp, index, name, power.draw [W], utilization.gpu [%], memory.used [MiB]\n"
    "2023/01/31 12:00:00.100, 0, NVIDIA H100 80GB HBM3, 300.10 W, 99 %, 1024 MiB\n"
    "2023/01/31 12:00:00.102, 1, NVIDIA H100 80GB HBM3, 310.20 W, 98 %, 2048 MiB\n"
    "2023/01/31 12:00:01.100, 0, NVIDIA H100 80GB HBM3, 301.00 W, 97 %, 1024 MiB\n"
    "2023/01/31 12:00:01.102, 1, NVIDIA H100 80GB HBM3, [N/A], 96 %, 2048 MiB\n";

TEST(SmiCsv, ReadsWhatNvidiaSmiWrites) {
  const auto imported = read(kTwoGpus);
  EXPECT_EQ(imported.rows, 4U);
  ASSERT_EQ(imported.run.devices.size(), 2U);
  EXPECT_EQ(imported.run.devices[1].name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(imported.run.devices[1].index, 1);
  EXPECT_EQ(values(imported, 0, kAverage), (Values{300.1, 301}));
  EXPECT_EQ(values(imported, 1, kAverage), (Values{310.2, -1}));
  EXPECT_EQ(values(imported, 0, kUtilization), (Values{99, 97}));
  EXPECT_EQ(values(imported, 1, kMemory), (Values{2048.0 * 1048576, 2048.0 * 1048576}));
  const auto* quality = imported.run.find_quality(record::DeviceIndex{1}, kAverage);
  ASSERT_NE(quality, nullptr);
  EXPECT_EQ(quality->how, record::How::integrated);
  EXPECT_EQ(quality->where, record::Where::imported);
  EXPECT_EQ(quality->sampling, record::Sampling::irregular);
  EXPECT_EQ(quality->failed, 1U);
  EXPECT_EQ(imported.run.find_quality(record::DeviceIndex{0}, kAverage)->cadence_ns, kS);
  EXPECT_EQ(imported.run.where(), record::Where::imported);
  EXPECT_EQ(imported.run.text(record::meta::kZoneKnown), "0");
  EXPECT_EQ(imported.run.text(record::meta::kClock), "wall");
  EXPECT_TRUE(imported.run.complete());
}

TEST(SmiCsv, EncodingsSeparatorsAndColumnOrderDoNotMatter) {
  const std::string texts[] = {
      "\xEF\xBB\xBFutilization.gpu [%], timestamp, power.draw [W]\r\n99 %, 2023-01-31T12:00:00Z, 300.5 W\r\n",
      "utilization.gpu;power.draw;timestamp\n99;300,5;1675166400\n",
      "utilization.gpu\tpower.draw\ttimestamp\n99\t300.5\t1675166400000\n",
      "\"timestamp\",\"power.draw [W]\",\"utilization.gpu [%]\"\n\"1675166400\",\"300.5 W\",\"99 %\"\n",
      "Tue Jan 31 12:00:00 UTC 2023\nlogging\n\ntimestamp, power.draw [W], utilization.gpu [%]\n"
      "2023/01/31 12:00:00 UTC, 300.5 W, 99 %\n"};
  for (const auto& text : texts) {
    const auto imported = read(text);
    EXPECT_EQ(values(imported, 0, kAverage), Values{300.5}) << text;
    EXPECT_EQ(values(imported, 0, kUtilization), Values{99}) << text;
    ASSERT_FALSE(imported.run.series.empty());
    EXPECT_EQ(imported.run.series[0].time_ns, std::vector<std::int64_t>{1'675'166'400 * kS}) << text;
    EXPECT_EQ(imported.run.text(record::meta::kZoneKnown), "1") << text;
  }
}

TEST(SmiCsv, RepeatedAndChangedHeadersAreNoRows) {
  const auto imported = read(
      "timestamp, power.draw [W]\n1675166400, 100 W\ntimestamp, power.draw [W]\n1675166401, 101 W\n"
      "timestamp, utilization.gpu [%], power.draw [W]\n1675166402, 50 %, 102 W\n");
  EXPECT_EQ(imported.rows, 3U);
  EXPECT_EQ(values(imported, 0, kAverage), (Values{100, 101, 102}));
  EXPECT_EQ(values(imported, 0, kUtilization), (Values{-1, -1, 50}));
}

TEST(SmiCsv, PowerDrawMeansWhatTheGenerationMakesOfIt) {
  const auto draw = [](const std::string& name) {
    return read("timestamp, name, power.draw [W]\n1675166400, " + name + ", 100 W\n");
  };
  EXPECT_EQ(values(draw("NVIDIA A100-SXM4-80GB"), 0, kInstant), Values{100});
  EXPECT_TRUE(values(draw("NVIDIA A100-SXM4-80GB"), 0, kAverage).empty());
  EXPECT_EQ(values(draw("NVIDIA H100 80GB HBM3"), 0, kAverage), Values{100});
  const auto a100 = draw("NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(a100.run.quality.at(0).duty, 0.25);
  EXPECT_THAT(a100.run.quality.at(0).note, HasSubstr("25 ms"));
  const auto unknown = read("timestamp, power.draw [W]\n1675166400, 100 W\n");
  EXPECT_EQ(values(unknown, 0, kAverage), Values{100});
  EXPECT_THAT(unknown.run.quality.at(0).note, HasSubstr("not known"));
  EXPECT_EQ(unknown.run.quality.at(0).duty, std::nullopt);
}

TEST(SmiCsv, AverageAndInstantKeepTheirOwnColumns) {
  const auto imported = read(
      "timestamp, name, power.draw [W], power.draw.average [W], power.draw.instant [W]\n"
      "1675166400, NVIDIA H100 80GB HBM3, 1 W, 200 W, 300 W\n"
      "1675166401, NVIDIA H100 80GB HBM3, 210 W, [N/A], 310 W\n");
  EXPECT_EQ(values(imported, 0, kAverage), (Values{200, 210}));
  EXPECT_EQ(values(imported, 0, kInstant), (Values{300, 310}));
}

TEST(SmiCsv, MissingIsMissingAndFaultsAreEvents) {
  const auto imported = read(
      "timestamp, index, power.draw [W], temperature.gpu, fan.speed [%]\n"
      "1675166400, 0, 100 W, [Not Supported], [N/A]\n"
      "1675166401, 0, [Unknown Error], [Not Supported], [N/A]\n"
      "1675166402, 0, [GPU requires reset], [Not Supported], [N/A]\n"
      "1675166403, 0, ERR!, 44, [N/A]\n");
  EXPECT_EQ(values(imported, 0, kAverage), (Values{100, -1, -1, -1}));
  EXPECT_EQ(imported.run.series[0].find(metric(DeviceKind::gpu, "fan_speed")), nullptr);
  ASSERT_EQ(imported.run.events.size(), 3U);
  EXPECT_EQ(imported.run.events[0].kind, "sensor.failed");
  EXPECT_THAT(imported.run.events[0].text, HasSubstr("line 3"));
  EXPECT_EQ(imported.run.events[0].device, 0U);
}

TEST(SmiCsv, SaysByLineWhatItDoesNotUnderstandAndKeepsTheRest) {
  const auto imported = read(
      "timestamp, index, power.draw [W], flux\n"
      "1675166400, 0, 100 W, 1\n"
      "Unable to determine the device handle for GPU0000:02:00.0: Unknown Error\n"
      "[Unknown Error], [Unknown Error], [Unknown Error], [Unknown Error]\n"
      "1675166401, 0, 12x W, 1\n"
      "1675166402, 0\n"
      "1675166403, 0, 103 W, 1, 5, 6\n"
      "yesterday, 0, 104 W, 1\n"
      "1675166405, [N/A], 104 W, 1\n"
      "1675166406, 0, 106 W, 1\n");
  EXPECT_EQ(imported.rows, 3U);
  EXPECT_EQ(values(imported, 0, kAverage), (Values{100, -1, 106}));
  const auto said = all_of(imported);
  for (const auto* expected : {"line 1: columns that are not read: 'flux'", "line 3: no row of the table: 'Unable to",
                               "line 4: cannot read the time", "line 5: '12x W' is no value of 'power.draw'",
                               "line 6: 2 cells where the table has 4", "line 7: 6 cells where the table has 4",
                               "line 8: cannot read the time 'yesterday'", "line 9: does not say of which GPU"})
    EXPECT_THAT(said, HasSubstr(expected));
  ASSERT_EQ(imported.run.events.size(), 1U);
  EXPECT_EQ(imported.run.events[0].kind, "import.message");
}

TEST(SmiCsv, ManyOfOneKindOfTroubleAreCounted) {
  std::string text = "timestamp, power.draw [W]\n1675166400, 100 W\n";
  for (int i = 0; i < 500; ++i) text += "1675166401, x, y\n";
  const auto imported = read(text);
  EXPECT_LT(imported.diagnostics.size(), 8U);
  EXPECT_THAT(all_of(imported), HasSubstr("the last of 500 lines with a wrong number of cells in all"));
}

TEST(SmiCsv, ALastLineThatWasCutOffIsNotGuessed) {
  const std::string head = "timestamp, power.draw [W]\n1675166400, 126.96 W\n";
  const auto fewer = read("timestamp, utilization.gpu [%], power.draw [W]\n1675166400, 5 %, 126.96 W\n1675166401, 5 %");
  EXPECT_EQ(fewer.rows, 1U);
  EXPECT_FALSE(fewer.run.complete());
  EXPECT_THAT(all_of(fewer), HasSubstr("line 3: cut off after 2 of 3 cells"));
  const auto cut_cell = read(head + "1675166401, 12");
  EXPECT_EQ(values(cut_cell, 0, kAverage), (Values{126.96, -1}));
  EXPECT_THAT(all_of(cut_cell), HasSubstr("line 3: cut off in the cell '12'"));
  const auto whole = read(head + "1675166401, 12.00 W");
  EXPECT_EQ(values(whole, 0, kAverage), (Values{126.96, 12}));
}

TEST(SmiCsv, ReadsWideTablesOneColumnAGpu) {
  const auto named =
      read("timestamp,gpu0_power_w,gpu1_power_w,gpu1_util\n1675166400,100,110,5\n1675166401,101,111,6\n");
  EXPECT_EQ(named.rows, 2U);
  EXPECT_EQ(values(named, 0, kAverage), (Values{100, 101}));
  EXPECT_EQ(values(named, 1, kAverage), (Values{110, 111}));
  EXPECT_EQ(values(named, 1, kUtilization), (Values{5, 6}));
  const std::string bare = "timestamp,GPU0,GPU1\n1675166400.5,100,110\n";
  const auto by_file_name = read(bare, {}, "dir/power_log.csv");
  EXPECT_EQ(values(by_file_name, 1, kAverage), Values{110});
  EXPECT_THAT(all_of(by_file_name), HasSubstr("because of the file's name"));
  EXPECT_THAT(refusal(bare), HasSubstr("line 1"));
}

TEST(SmiCsv, RowsWithoutGpuInGroupsAreDealtOut) {
  std::string text = "timestamp, power.draw [W]\n";
  for (int tick = 0; tick < 10; ++tick)
    for (int gpu = 0; gpu < 4; ++gpu)
      text += "2023/01/31 12:00:0" + std::to_string(tick) + ".10" + std::to_string(gpu * 2) + ", " +
              std::to_string(100 * (gpu + 1)) + " W\n";
  const auto imported = read(text);
  ASSERT_EQ(imported.run.series.size(), 4U);
  EXPECT_EQ(imported.rows, 40U);
  EXPECT_EQ(values(imported, 3, kAverage), Values(10, 400));
  EXPECT_THAT(all_of(imported), HasSubstr("groups of 4"));
}

TEST(SmiCsv, UnevenRowsOfOneGpuStayOneGpu) {
  std::string text = "timestamp, power.draw [W]\n";
  for (int i = 0; i < 40; ++i) text += std::to_string(1675166400.0 + i * 0.5 + (i % 7 == 0 ? 0.1 : 0)) + ", 100 W\n";
  EXPECT_EQ(read(text).run.series.size(), 1U);
}

TEST(SmiCsv, WithoutTimeItNeedsAnInterval) {
  const std::string text = "index, power.draw [W]\n0, 100 W\n1, 110 W\n0, 101 W\n1, 111 W\n";
  EXPECT_THAT(refusal(text), HasSubstr("line 1: no column of 'index, power.draw [W]' holds a time"));
  EXPECT_THAT(refusal(text), HasSubstr("--interval"));
  const auto imported = read(text, {.interval = std::chrono::seconds(2)});
  EXPECT_EQ(imported.rows, 4U);
  EXPECT_EQ(imported.run.series.at(1).time_ns, (std::vector<std::int64_t>{0, 2 * kS}));
  EXPECT_EQ(values(imported, 1, kAverage), (Values{110, 111}));
  EXPECT_EQ(imported.run.text("import_time"), "relative");
  const auto single = read("power.draw [W]\n100 W\n101 W\n", {.interval = std::chrono::seconds(1)});
  EXPECT_EQ(values(single, 0, kAverage), (Values{100, 101}));
}

TEST(SmiCsv, WithoutHeaderTheUnitsSayWhatIsWhat) {
  const auto imported = read(
      "2023/01/31 12:00:00.000, NVIDIA H100 PCIe, 99 %, 120.00 W, 350.00 W, P0, 1000 MiB, 81559 MiB, 45\n"
      "2023/01/31 12:00:01.000, NVIDIA H100 PCIe, 98 %, 121.00 W, 350.00 W, P2, 1001 MiB, 81559 MiB, 46\n");
  EXPECT_EQ(values(imported, 0, kAverage), (Values{120, 121}));
  EXPECT_EQ(values(imported, 0, kUtilization), (Values{99, 98}));
  EXPECT_EQ(values(imported, 0, kLimit), (Values{350, 350}));
  EXPECT_EQ(values(imported, 0, metric(DeviceKind::gpu, "performance_state")), (Values{0, 2}));
  EXPECT_EQ(values(imported, 0, kMemory), (Values{1000.0 * 1048576, 1001.0 * 1048576}));
  EXPECT_THAT(all_of(imported), HasSubstr("there is no header"));
}

TEST(SmiCsv, WithoutHeaderAndUnitsTheUserNamesTheColumns) {
  const std::string text = "2023/01/31 12:00:00.000, 99, 120.5\n2023/01/31 12:00:01.000, 98, 121.5\n";
  EXPECT_THAT(refusal(text), HasSubstr("line 1: no header names the 3 columns"));
  const auto imported = read(text, {.columns = {"timestamp", "utilization.gpu", "power.draw"}});
  EXPECT_EQ(values(imported, 0, kAverage), (Values{120.5, 121.5}));
}

TEST(SmiCsv, MilliwattsInAWattColumnAreNotBelieved) {
  const std::string text =
      "timestamp,gpu_power_w,temp\n1675166400,4939.00,40\n1675166401,6472.00,41\n1675166402,6470,42\n";
  const auto imported = read(text);
  EXPECT_TRUE(values(imported, 0, kAverage).empty());
  EXPECT_EQ(imported.rows, 3U);
  EXPECT_THAT(all_of(imported), HasSubstr("line 1: column 'gpu_power_w' holds 6470 W in the middle"));
  const auto told = read(text, {.units = {{"gpu_power_w", "mW"}}});
  EXPECT_EQ(values(told, 0, kAverage), (Values{4.939, 6.472, 6.47}));
  EXPECT_THAT(refusal("timestamp,gpu_power_w\n1675166400,4939\n"),
              HasSubstr("line 1: column 'gpu_power_w' holds 4939 W"));
}

TEST(SmiCsv, ImpossibleValuesAreMissing) {
  const auto imported = read(
      "timestamp, power.draw [W], utilization.gpu [%]\n1675166400, 100 W, 50 %\n1675166401, -5 W, 4294967295 %\n"
      "1675166402, 90000 W, 51 %\n1675166403, 9.2e18 W, 51 %\n1675166404, 101 W, 52 %\n");
  EXPECT_EQ(values(imported, 0, kAverage), (Values{100, -1, -1, -1, 101}));
  EXPECT_EQ(values(imported, 0, kUtilization), (Values{50, -1, 51, 51, 52}));
  EXPECT_THAT(all_of(imported), HasSubstr("line 3: '-5 W' cannot be a value of 'power.draw'"));
}

TEST(SmiCsv, EventReasonsComeFromTheMaskOrFromTheirColumns) {
  const auto mask = read("timestamp, clocks_throttle_reasons.active\n1675166400, 0x0000000000000004\n");
  EXPECT_EQ(values(mask, 0, kReasons), Values{4});
  const auto single = read(
      "timestamp, clocks_event_reasons.sw_power_cap, clocks_event_reasons.hw_thermal_slowdown\n"
      "1675166400, Active, Active\n1675166401, Not Active, Not Active\n1675166402, [N/A], [N/A]\n");
  EXPECT_EQ(values(single, 0, kReasons), (Values{68, 0, -1}));
}

TEST(SmiCsv, CountersCountFromTheFirstReadingAndSurviveAReset) {
  const auto imported = read(
      "timestamp, clocks_event_reasons_counters.sw_power_cap [us]\n1675166400, 1000 us\n1675166401, 3000 us\n"
      "1675166402, 500 us\n1675166403, 700 us\n");
  const auto held = values(imported, 0, kHeldCap);
  ASSERT_EQ(held.size(), 4U);
  EXPECT_DOUBLE_EQ(held[1], 0.002);
  EXPECT_DOUBLE_EQ(held[3], 0.0022);
  EXPECT_EQ(imported.run.quality.at(0).resets, 1U);
  EXPECT_EQ(imported.run.quality.at(0).how, record::How::counter);
}

TEST(SmiCsv, TimeThatGoesBackIsPutInOrderAndSaid) {
  const auto imported = read("timestamp, power.draw [W]\n1675166410, 3 W\n1675166400, 1 W\n1675166405, 2 W\n");
  EXPECT_EQ(values(imported, 0, kAverage), (Values{1, 2, 3}));
  EXPECT_THAT(all_of(imported), HasSubstr("1 rows lie before the row above them"));
}

TEST(SmiCsv, EqualTimesAreKeptApart) {
  const auto seconds = read("timestamp, power.draw [W]\n1675166400, 1 W\n1675166400, 2 W\n1675166401, 3 W\n");
  EXPECT_EQ(seconds.run.series.at(0).time_ns.at(1) - seconds.run.series.at(0).time_ns.at(0), kS / 2);
  const auto exact = read("timestamp, power.draw [W]\n1675166400.0, 1 W\n1675166400.0, 2 W\n1675166401.0, 3 W\n");
  EXPECT_EQ(exact.run.series.at(0).time_ns.at(1) - exact.run.series.at(0).time_ns.at(0), 1);
  EXPECT_THAT(all_of(exact), HasSubstr("1 rows repeat the time"));
}

TEST(SmiCsv, TheEndOfSummerTimeDoesNotFoldTheRun) {
  const auto imported = read(
      "timestamp, power.draw [W]\n2023/10/29 02:59:58.000, 1 W\n2023/10/29 02:59:59.000, 2 W\n"
      "2023/10/29 02:00:00.000, 3 W\n2023/10/29 02:00:01.000, 4 W\n");
  EXPECT_EQ(values(imported, 0, kAverage), (Values{1, 2, 3, 4}));
  EXPECT_EQ(imported.run.series.at(0).time_ns.back() - imported.run.series.at(0).time_ns.front(), 3 * kS);
  EXPECT_THAT(all_of(imported), HasSubstr("line 4: local time goes back by an hour"));
}

TEST(SmiCsv, TimesOfDayPassMidnight) {
  const auto imported = read("time,power_w\n23:59:59,1\n00:00:00,2\n00:00:01,3\n");
  EXPECT_EQ(imported.run.series.at(0).time_ns.back() - imported.run.series.at(0).time_ns.front(), 2 * kS);
  EXPECT_EQ(imported.run.text("import_time"), "relative");
}

TEST(SmiCsv, AUtcOffsetMakesLocalTimesAbsolute) {
  const auto imported =
      read("timestamp, power.draw [W]\n2023/01/31 14:00:00.000, 1 W\n", {.utc_offset = std::chrono::minutes(120)});
  EXPECT_EQ(imported.run.series.at(0).time_ns.at(0), 1'675'166'400 * kS);
  EXPECT_EQ(imported.run.text(record::meta::kZoneKnown), "1");
}

TEST(SmiCsv, ALimitThatWasOnlyAskedForStandsInMarked) {
  const auto imported = read("timestamp, power.draw [W], power.limit [W]\n1675166400, 1 W, 400 W\n");
  EXPECT_EQ(values(imported, 0, kLimit), Values{400});
  const auto* quality = imported.run.find_quality(record::DeviceIndex{0}, kLimit);
  ASSERT_NE(quality, nullptr);
  EXPECT_EQ(quality->how, record::How::estimated);
  const auto both =
      read("timestamp, power.draw [W], power.limit [W], enforced.power.limit [W]\n1675166400, 1 W, 400 W, 300 W\n");
  EXPECT_EQ(values(both, 0, kLimit), Values{300});
}

TEST(SmiCsv, TablesOfProcessesBetweenAreNotReadings) {
  const auto imported = read(
      "timestamp, gpu_uuid, utilization.gpu [%]\n1675166400, GPU-1, 50 %\n\n"
      "timestamp, gpu_name, gpu_uuid, pid, gpu_utilization [%]\n1675166400, X, GPU-1, 42, 99 %\n"
      "1675166400, X, GPU-1, 43, 98 %\n\n"
      "timestamp, gpu_uuid, utilization.gpu [%]\n1675166401, GPU-1, 51 %\n");
  EXPECT_EQ(values(imported, 0, kUtilization), (Values{50, 51}));
  EXPECT_THAT(all_of(imported), HasSubstr("2 rows of process and page tables"));
}

TEST(SmiCsv, DeviceFactsAndAttributesComeAlong) {
  const auto imported = read(
      "timestamp, uuid, pci.bus_id, driver_version, memory.total [MiB], power.max_limit [W], utilization.gpu [%]\n"
      "1675166400, GPU-1, 00000000:01:00.0, 550.54, 81559 MiB, 700.00 W, 5 %\n");
  const auto& device = imported.run.devices.at(0);
  EXPECT_EQ(device.uuid, "GPU-1");
  EXPECT_EQ(device.attributes.at("pci_bus_id"), "00000000:01:00.0");
  EXPECT_EQ(device.attributes.at("power_limit_max_w"), "700");
  EXPECT_EQ(device.attributes.at("memory_total_bytes"), "85520809984");
  ASSERT_EQ(imported.run.facts.size(), 1U);
  EXPECT_EQ(imported.run.facts[0].name, "gpu.driver_version");
  EXPECT_EQ(imported.run.facts[0].subject, "GPU-1");
}

TEST(SmiCsv, HolesLowerTheCoverage) {
  std::string text = "timestamp,power_w\n";
  for (int i = 0; i < 100; ++i) text += std::to_string(1675166400 + i + (i >= 50 ? 100 : 0)) + ",100\n";
  const auto imported = read(text);
  EXPECT_NEAR(imported.run.quality.at(0).coverage.value(), 0.5, 0.02);
}

TEST(SmiCsv, RefusesWithLineAndReason) {
  EXPECT_THAT(refusal(""), HasSubstr("log.csv cannot be imported: line 1: the file is empty"));
  EXPECT_THAT(refusal("\n\n"), HasSubstr("line 1: nothing but empty lines"));
  EXPECT_THAT(refusal("Fri 21 Nov 2025 11:41:31 PM EST"), HasSubstr("line 1: 'Fri 21 Nov"));
  EXPECT_THAT(refusal("timestamp, power.draw [W]\n"),
              HasSubstr("line 1: the header 'timestamp, power.draw [W]' has no row"));
  EXPECT_THAT(refusal("x,losses\n1,2\n"), HasSubstr("line 1: none of the columns 'x,losses'"));
  EXPECT_THAT(refusal("timestamp,count,flux\n1675166400,8,2\n"), HasSubstr("line 1: none of the columns"));
  EXPECT_THAT(refusal("timestamp, power.draw [W]\nsoon, 5 W\n"), HasSubstr("line 2: cannot read the time 'soon'"));
  EXPECT_THAT(refusal(std::string(3'000'000, 'x')), HasSubstr("line 1"));
  EXPECT_THAT(refusal(std::string("PK\x03\x04", 4) + "zip"), HasSubstr("a zip file or spreadsheet"));
  EXPECT_THAT(refusal(std::string(100, '\x01')), HasSubstr("binary"));
  EXPECT_THAT(refusal("timestamp, power.draw [W]\n1675166400, [N/A]\n"),
              HasSubstr("line 1: 1 rows, but not one reading"));
}

TEST(SmiCsv, GpusWithoutEndAreNoGpus) {
  std::string text = "timestamp,device,power_w\n";
  for (int i = 0; i < 3000; ++i) text += "1675166400,job-" + std::to_string(i) + ",100\n";
  EXPECT_THAT(refusal(text), HasSubstr("more than 1024 different GPUs"));
}

}  // namespace
}  // namespace gradwatt::ingest
