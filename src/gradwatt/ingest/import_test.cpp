#include "gradwatt/ingest/import.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace gradwatt::ingest {
namespace {

using ::testing::HasSubstr;
constexpr auto kAverage = record::metric(record::DeviceKind::gpu, "power_avg");
constexpr auto kUtilization = record::metric(record::DeviceKind::gpu, "utilization");

class ImportFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    auto pattern = (std::filesystem::temp_directory_path() / "gradwatt-import-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static std::string said(const Imported& imported) {
    std::string all;
    for (const auto& diagnostic : imported.diagnostics) all += format(diagnostic) + "\n";
    return all;
  }
  std::filesystem::path folder_;
};

TEST_F(ImportFiles, JoinsRotatedLogsOfOneGpu) {
  const std::vector files{write("a.csv", "timestamp,index,power_w\n1675166400,0,100\n1675166401,0,101\n"),
                          write("b.csv", "timestamp,index,power_w\n1675166402,0,102\n")};
  const auto imported = import_files(files);
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->run.devices.size(), 1U);
  EXPECT_EQ(imported->run.series.at(0).size(), 3U);
  EXPECT_EQ(imported->run.series.at(0).find(kAverage)->at(2), 102);
  EXPECT_EQ(imported->rows, 3U);
  EXPECT_EQ(imported->run.number_of("import_rows"), 3);
  EXPECT_THAT(said(*imported), HasSubstr("does not overlap the files before in time"));
}

TEST_F(ImportFiles, KeepsEqualIndicesThatRunAtTheSameTimeApart) {
  const std::vector files{write("node1.csv", "timestamp,index,power_w\n1675166400,0,100\n1675166401,0,101\n"),
                          write("node2.csv", "timestamp,index,power_w\n1675166400,0,200\n1675166401,0,201\n")};
  const auto imported = import_files(files);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->run.devices.size(), 2U);
  EXPECT_EQ(imported->run.series.at(1).find(kAverage)->at(0), 200);
}

TEST_F(ImportFiles, JoinsColumnsOfOneUuidFromTwoFiles) {
  const std::vector files{
      write("power.csv", "timestamp,uuid,power_w\n1675166400.0,GPU-1,100\n1675166401.0,GPU-1,101\n"),
      write("util.csv", "timestamp,uuid,util\n1675166400.5,GPU-1,50\n1675166401.5,GPU-1,51\n")};
  const auto imported = import_files(files);
  ASSERT_TRUE(imported) << imported.error().message;
  ASSERT_EQ(imported->run.series.size(), 1U);
  const auto& series = imported->run.series[0];
  EXPECT_EQ(series.size(), 4U);
  EXPECT_EQ(series.find(kAverage)->at(0), 100);
  EXPECT_EQ(series.find(kAverage)->at(1), std::nullopt);
  EXPECT_EQ(series.find(kUtilization)->at(3), 51);
  EXPECT_TRUE(std::ranges::is_sorted(series.time_ns));
}

TEST_F(ImportFiles, WarnsWhereZonesDiffer) {
  const std::vector files{write("a.csv", "timestamp,power_w\n1675166400,100\n"),
                          write("b.csv", "timestamp,power_w\n2023/01/31 12:00:01,100\n")};
  const auto imported = import_files(files);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(said(*imported), HasSubstr("the zone of its times is not known alike"));
  EXPECT_EQ(imported->run.text(record::meta::kZoneKnown), "0");
}

TEST_F(ImportFiles, NamesTheFileThatCannotBeRead) {
  const std::vector files{write("a.csv", "timestamp,power_w\n1675166400,100\n"), write("b.txt", "hello\n")};
  const auto imported = import_files(files);
  ASSERT_FALSE(imported);
  EXPECT_EQ(imported.error().code, core::Errc::unusable_input);
  EXPECT_THAT(imported.error().message, HasSubstr("b.txt cannot be imported: line 1: 'hello'"));
  EXPECT_THAT(imported.error().message, HasSubstr("can be read: "));
  EXPECT_THAT(imported.error().message, HasSubstr("nvidia-smi query CSV"));
  EXPECT_EQ(import_files(std::vector{folder_ / "none.csv"}).error().code, core::Errc::not_found);
  EXPECT_EQ(import_files({}).error().code, core::Errc::wrong_use);
}

TEST(ImportText, RefusesOptionsThatMakeNoSense) {
  const std::string text = "timestamp,power_w\n1675166400,100\n";
  EXPECT_EQ(import_text("a.csv", text, {.interval = core::Duration(0)}).error().code, core::Errc::wrong_use);
  EXPECT_EQ(import_text("a.csv", text, {.units = {{"power_w", "furlong"}}}).error().code, core::Errc::wrong_use);
}

TEST(Fixture, TheProjectsRecordingIsBusyAtFortyPercentOfTheLimit) {
  const auto file = std::filesystem::path(GRADWATT_SOURCE_DIR) / "tests/fixtures/two-h100-busy-low-power.csv";
  const auto imported = import_files(std::vector{file});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->rows, 1200U);
  ASSERT_EQ(imported->run.series.size(), 2U);
  const auto mean = [&](const record::DeviceSeries& series, std::string_view name) {
    const auto* column = series.find(*record::find_metric(record::DeviceKind::gpu, name));
    double sum = 0;
    for (std::size_t i = 0; i < series.size(); ++i) sum += column->at(i).value();
    return sum / static_cast<double>(series.size());
  };
  for (const auto& series : imported->run.series) {
    EXPECT_GT(mean(series, "utilization"), 97);
    EXPECT_NEAR(mean(series, "power_avg") / mean(series, "power_limit_enforced"), 0.4, 0.02);
  }
}

}  // namespace
}  // namespace gradwatt::ingest
