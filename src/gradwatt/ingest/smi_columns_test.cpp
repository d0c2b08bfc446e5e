#include "gradwatt/ingest/smi_columns.hpp"

#include <gtest/gtest.h>

#include "gradwatt/ingest/smi_cell.hpp"

namespace gradwatt::ingest {
namespace {

std::string metric_name(std::string_view header) {
  const auto meaning = meaning_of(header);
  return meaning.metric ? std::string(record::info(*meaning.metric).name) : "";
}

TEST(SmiColumns, KnowsNamesBeforeAndAfterTheRenaming) {
  EXPECT_EQ(meaning_of("power.draw [W]").role, Role::plain_power);
  EXPECT_EQ(metric_name("power.draw.average [W]"), "power_avg");
  EXPECT_EQ(metric_name("gpu.power.draw.instant"), "power_inst");
  EXPECT_EQ(metric_name("clocks_throttle_reasons.active"), "clock_event_reasons");
  EXPECT_EQ(metric_name("clocks_event_reasons.active"), "clock_event_reasons");
  EXPECT_EQ(meaning_of("clocks_throttle_reasons.hw_thermal_slowdown").detail, "64");
  EXPECT_EQ(metric_name("clocks.current.sm [MHz]"), "sm_clock");
  EXPECT_EQ(metric_name("clocks.sm"), "sm_clock");
  EXPECT_EQ(meaning_of("power.draw [W]").written_unit, "W");
  EXPECT_TRUE(meaning_of("power.draw [W]").official);
}

TEST(SmiColumns, KnowsOwnMadeNamesWithUnits) {
  const auto power = meaning_of("gpu_power_w");
  EXPECT_EQ(power.role, Role::plain_power);
  EXPECT_EQ(power.written_unit, "w");
  EXPECT_FALSE(power.official);
  EXPECT_EQ(metric_name("gpu_util(%)"), "utilization");
  EXPECT_EQ(metric_name("memory_used(MB)"), "memory_used");
  EXPECT_EQ(metric_name("Temperature (°C)"), "temperature");
  EXPECT_EQ(meaning_of("GPU_ID").role, Role::index);
  EXPECT_EQ(meaning_of("elapsed_ms").time_unit, TimeUnit::ms);
  EXPECT_EQ(meaning_of("Timestamp (ns)").time_unit, TimeUnit::ns);
}

TEST(SmiColumns, ReadsTheGpuOutOfWideColumns) {
  EXPECT_EQ(meaning_of("GPU0").role, Role::bare);
  EXPECT_EQ(meaning_of("GPU0").gpu, 0);
  EXPECT_EQ(meaning_of("gpu 3 [W]").gpu, 3);
  EXPECT_EQ(meaning_of("gpu3_w").written_unit, "w");
  EXPECT_EQ(meaning_of("power_gpu1").gpu, 1);
  EXPECT_EQ(meaning_of("power_gpu1").role, Role::plain_power);
  EXPECT_EQ(metric_name("gpu_2_utilization (%)"), "utilization");
  EXPECT_EQ(meaning_of("utilization.gpu [%]").gpu, std::nullopt);
}

TEST(SmiColumns, LeavesTheUncertainUnknown) {
  for (const auto* name :
       {"mem_util", "memory_util(%)", "gpu_co2_kg", "gpu_energy_kwh", "losses", "", "[W]", "gpu0_foo"})
    EXPECT_EQ(meaning_of(name).role, Role::unknown) << name;
}

TEST(SmiCell, TellsNumbersMissingFaultsAndText) {
  EXPECT_EQ(read_cell("126.96 W").value, 126.96);
  EXPECT_EQ(read_cell("126.96 W").unit, "W");
  EXPECT_EQ(read_cell("38 %").unit, "%");
  EXPECT_EQ(read_cell(".0059").value, .0059);
  EXPECT_EQ(read_cell("-3").value, -3);
  EXPECT_EQ(read_cell("126,96 W", true).value, 126.96);
  EXPECT_EQ(read_cell("126,96 W", true).unit, "W");
  EXPECT_EQ(read_cell("126,96 W", false).unit, ",96 W");
  for (const auto* text : {"[N/A]", "N/A", "[Not Supported]", "", " ", "-",
                           "[Requested functionality has been deprecated]", "nan", "None"})
    EXPECT_EQ(read_cell(text).kind, CellKind::missing) << text;
  for (const auto* text : {"[Unknown Error]", "ERR!", "[GPU requires reset]", "[GPU is lost]", "Unknown Error"})
    EXPECT_EQ(read_cell(text).kind, CellKind::fault) << text;
  for (const auto* text : {"P0", "Active", "inf", "1e999", "--5"})
    EXPECT_EQ(read_cell(text).kind, CellKind::text) << text;
}

TEST(SmiCell, UnitsBelongToWhatTheyMeasure) {
  EXPECT_EQ(unit_factor("MiB", "bytes"), 1048576);
  EXPECT_EQ(unit_factor("mW", "w"), 1e-3);
  EXPECT_EQ(unit_factor("W", "pct"), std::nullopt);
  EXPECT_EQ(unit_factor("furlong", "w"), std::nullopt);
}

}  // namespace
}  // namespace gradwatt::ingest
