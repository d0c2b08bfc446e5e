#include "gradwatt/record/metric.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <set>

#include "gradwatt/record/fact.hpp"

namespace gradwatt::record {
namespace {

TEST(MetricTable, EveryRowIsComplete) {
  for (const auto& row : table::kMetrics) {
    EXPECT_FALSE(row.name.empty());
    EXPECT_FALSE(row.unit.empty()) << row.name;
    EXPECT_FALSE(row.stored.empty()) << row.name;
    EXPECT_GT(row.step, 0) << row.name;
    EXPECT_GT(row.description.size(), 5U) << row.name;
    for (const char c : row.name) EXPECT_TRUE(std::islower(c) || std::isdigit(c) || c == '_') << row.name;
  }
}

TEST(MetricTable, ColumnsOfAKindAreUnique) {
  for (const auto kind : kDeviceKinds) {
    std::set<std::string> columns{"t_ns", "device"};
    for (const auto& row : metrics_of(kind)) {
      EXPECT_TRUE(columns.insert(row.column()).second) << row.column();
      if (row.type == MetricType::counter) {
        EXPECT_TRUE(columns.insert(row.raw_column()).second) << row.raw_column();
      }
    }
  }
}

TEST(MetricTable, NamesEndInTheirUnit) {
  constexpr MetricId power = metric(DeviceKind::gpu, "power_avg");
  EXPECT_EQ(info(power).key(), "power_avg_w");
  EXPECT_EQ(info(power).column(), "power_avg_mw");
  EXPECT_EQ(find_metric(DeviceKind::gpu, "power_avg_w"), power);
  EXPECT_EQ(find_metric(DeviceKind::gpu, "power_avg_mw"), power);
  EXPECT_EQ(find_metric(DeviceKind::gpu, "no_such"), std::nullopt);
}

TEST(MetricTable, SlotsAndIdsAreInverse) {
  for (const auto kind : kDeviceKinds)
    for (std::size_t i = 0; i < metric_count(kind); ++i) EXPECT_EQ(slot(metric_at(kind, i)), i);
}

TEST(FactTable, EveryRowIsComplete) {
  for (const auto& row : fact_table()) {
    EXPECT_NE(row.name.find('.'), std::string_view::npos) << row.name;
    EXPECT_FALSE(row.subject.empty()) << row.name;
    EXPECT_FALSE(row.description.empty()) << row.name;
    EXPECT_EQ(find_fact(row.name), &row);
  }
}

}  // namespace
}  // namespace gradwatt::record
