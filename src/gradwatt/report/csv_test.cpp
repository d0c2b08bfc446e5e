#include "gradwatt/report/csv.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "gradwatt/core/text.hpp"
#include "gradwatt/report/example_runs.hpp"

namespace gradwatt::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

record::Run two_devices() {
  record::Run run;
  run.set(record::meta::kJobBegin, std::int64_t{1'000'000'000});
  run.set(record::meta::kAnchorMonotonic, std::int64_t{0});
  run.set(record::meta::kAnchorWall, std::int64_t{1'700'000'000'000'000'000});
  run.devices.push_back({record::DeviceKind::gpu, "GPU-a", "A100", 0, "node,1", {}});
  run.devices.push_back({record::DeviceKind::node, "node", "", -1, "node,1", {}});
  record::DeviceSeries gpu{record::DeviceIndex{0}, {1'000'000'000, 2'500'000'000}, {}};
  gpu.column(record::metric(record::DeviceKind::gpu, "power_avg")).values = {181234, record::kMissing};
  gpu.column(record::metric(record::DeviceKind::gpu, "energy")).values = {0, 272000000};
  record::DeviceSeries node{record::DeviceIndex{1}, {1'000'000'000}, {}};
  node.column(record::metric(record::DeviceKind::node, "memory_used")).values = {1LL << 40};
  run.series = {gpu, node};
  return run;
}

std::string raw(RawLayout layout) {
  std::ostringstream out;
  raw_csv(two_devices(), layout, out);
  return out.str();
}

TEST(RawCsv, WideHasAColumnAMetricInTableOrderAndEmptyCellsForWhatIsMissing) {
  const auto text = raw(RawLayout::wide);
  EXPECT_THAT(core::split(text, '\n'),
              ElementsAre("time_s,time_utc,host,kind,index,uuid,gpu_energy_j,gpu_power_avg_w,node_memory_used_bytes",
                          "0.000000,2023-11-14T22:13:21.000Z,\"node,1\",gpu,0,GPU-a,0.000000,181.234,",
                          "1.500000,2023-11-14T22:13:22.500Z,\"node,1\",gpu,0,GPU-a,272.000000,,",
                          "0.000000,2023-11-14T22:13:21.000Z,\"node,1\",node,,node,,,1099511627776", ""));
}

TEST(RawCsv, LongHasARowAValueAndKeepsFailedReadings) {
  const auto text = raw(RawLayout::long_rows);
  EXPECT_THAT(core::split(text, '\n'), SizeIs(1 + 4 + 1 + 1));
  EXPECT_THAT(text, HasSubstr("1.500000,2023-11-14T22:13:22.500Z,\"node,1\",gpu,0,GPU-a,power_avg_w,\n"));
}

TEST(RawCsv, HasNoWallTimeWhereTheRecordHasNone) {
  auto run = two_devices();
  run.meta.erase("anchor_wall_ns");
  std::ostringstream out;
  raw_csv(run, RawLayout::wide, out);
  EXPECT_THAT(out.str(), HasSubstr("\n0.000000,,\"node,1\",gpu"));
}

TEST(SummaryCsv, HasTheTotalAComponentAndADeviceOnARowEach) {
  const auto e = testing::eight_gpus();
  const auto text = summary_csv(e.run, e.summary);
  const auto lines = core::split(text, '\n');
  ASSERT_THAT(lines, SizeIs(1 + 1 + 3 + 8 + 2 + 1 + 1));
  EXPECT_THAT(lines[1], StartsWith("20261130-030512-a3f1,total,,,,,"));
  EXPECT_THAT(lines[2], StartsWith("20261130-030512-a3f1,component,gpu,,,,"));
  EXPECT_THAT(lines[3], StartsWith("20261130-030512-a3f1,device,gpu,node07,0,GPU-0,"));
  const auto fields = std::ranges::count(lines[0], ',');
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) EXPECT_EQ(std::ranges::count(lines[i], ','), fields) << lines[i];
}

TEST(SummaryCsv, AMissingFigureIsAnEmptyCellWithAReason) {
  const auto e = testing::small_host();
  EXPECT_THAT(summary_csv(e.run, e.summary), HasSubstr(",component,gpu,,,,,,,,,,,,,the job has no GPU\n"));
}

}  // namespace
}  // namespace gradwatt::report
