// Every nvidia-smi recording of the corpus is either imported with as many rows as a plain count of its lines gives, or
// refused with a message that names line and reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "gradwatt/ingest/import.hpp"

namespace gradwatt::ingest {
namespace {

namespace fs = std::filesystem;

// The count knows nothing of the reader: it splits the file at line feeds and looks at begins of lines only.
std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

/// One header line, then rows.
std::size_t rows_below_header(const fs::path& file) {
  const auto lines = lines_of(file);
  return static_cast<std::size_t>(std::ranges::count_if(lines, [](const std::string& l) { return !l.empty(); })) - 1;
}

/// Many outputs of nvidia-smi in one file: rows stand between a query's header and the next empty line.
std::size_t rows_of_gpu_queries(const fs::path& file) {
  std::size_t rows = 0;
  bool inside = false;
  for (const auto& line : lines_of(file)) {
    if (inside && line.empty()) inside = false;
    rows += inside ? 1 : 0;
    if (line.starts_with("timestamp, driver_version")) inside = true;
  }
  return rows;
}

/// The same files hold the table and the long listing of their one GPU.
std::size_t looks_of_tables_and_listings(const fs::path& file) {
  const auto lines = lines_of(file);
  return static_cast<std::size_t>(std::ranges::count_if(lines, [](const std::string& line) {
    return line.starts_with("| NVIDIA-SMI ") || line == "==============NVSMI LOG==============";
  }));
}

struct Refusal {
  std::string file, reason;
};
const std::vector<Refusal> kRefused{
    {"epo-one-line/gpu_usage.log", "line 1: no header names the 7 columns"},  // bare numbers, no header
    {"fletcher-empty/gpu_power.csv", "line 1: the file is empty"},
    {"fletcher-empty/time.csv", "line 1: the file is empty"},
    // Raw data of an external meter and the begin of its recording; edges of the load; a spreadsheet; losses of a fit.
    {"gpu-power-benchmark-jzy/5050/3090/PMD_data.bin", "line 1: it is a binary file"},
    {"gpu-power-benchmark-jzy/5050/A100/PMD_data.bin", "line 1: it is a binary file"},
    {"gpu-power-benchmark-jzy/5050/3090/PMD_start_ts.txt", "line 1: '1688840907467245' is neither"},
    {"gpu-power-benchmark-jzy/5050/A100/PMD_start_ts.txt", "line 1: '1689325966982846' is neither"},
    {"gpu-power-benchmark-jzy/Transient_Response/3090_TR/PMD_start_ts.txt", "line 1: "},
    {"gpu-power-benchmark-jzy/Transient_Response/4090_TR/PMD_start_ts.txt", "line 1: "},
    {"gpu-power-benchmark-jzy/Transient_Response/A100_TR/PMD_start_ts.txt", "line 1: "},
    {"gpu-power-benchmark-jzy/Transient_Response/K40m_TR/PMD_start_ts.txt", "line 1: "},
    {"gpu-power-benchmark-jzy/5050/3090/timestamps.csv", "line 1: 'timestamp' is neither"},
    {"gpu-power-benchmark-jzy/5050/A100/timestamps.csv", "line 1: 'timestamp' is neither"},
    {"gpu-power-benchmark-jzy/Transient_Response/3090_TR/timestamps.csv", "line 1: 'timestamp' is neither"},
    {"gpu-power-benchmark-jzy/Transient_Response/4090_TR/timestamps.csv", "line 1: 'timestamp' is neither"},
    {"gpu-power-benchmark-jzy/Transient_Response/A100_TR/timestamps.csv", "line 1: 'timestamp' is neither"},
    {"gpu-power-benchmark-jzy/Transient_Response/K40m_TR/timestamps.csv", "line 1: 'timestamp' is neither"},
    {"gpu-power-benchmark-jzy/Overall_Results.xlsx", "line 1: it is a zip file or spreadsheet"},
    {"gpu-power-benchmark-jzy/loss_func/1080ti.csv", "line 1: none of the columns"},
    {"gpu-power-benchmark-jzy/loss_func/3090.csv", "line 1: none of the columns"},
    {"gpu-power-benchmark-jzy/loss_func/A100.csv", "line 1: none of the columns"},
    {"gpu-power-log-sjp/cmd_output.log", "line 1: '__BEGIN_MEASURE__' is neither"},  // the measured command's output
    {"gpu-power-log-sjp/power_log_summary.csv", "line 1: none of the columns"},      // totals, no series
    {"jetson-codecarbon/gpu_log.csv", "line 1: column 'gpu_power_w' holds 6626 W"},  // milliwatts called W
    {"nvidia-gpu-exporter-testdata/exporter/testdata/query.txt", "line 1: no column of"},  // one look, no time
    // Texts that are inputs of another program's tests, and the list of query fields.
    {"nvidia-gpu-exporter-testdata/exporter/testdata/fuzz/FuzzBuildQFieldToMetricInfoMap/colliding-returned-fields",
     "line 1: 'go test fuzz v1'"},
    {"nvidia-gpu-exporter-testdata/exporter/testdata/fuzz/FuzzBuildQFieldToMetricInfoMap/empty-returned-field",
     "line 1: 'go test fuzz v1'"},
    {"nvidia-gpu-exporter-testdata/fakesmi/testdata/fuzz/FuzzFluctuateStaysParseable/hex-shaped-cell",
     "line 1: 'go test fuzz v1'"},
    {"nvidia-gpu-exporter-testdata/nvidiasmi/testdata/fuzz/FuzzParseCSVIntoTable/header-only-mismatch",
     "line 1: 'go test fuzz v1'"},
    {"nvidia-gpu-exporter-testdata/nvidiasmi/testdata/fuzz/FuzzParseCSVIntoTable/ragged-data-row",
     "line 1: 'go test fuzz v1'"},
    {"nvidia-gpu-exporter-testdata/nvidiasmi/testdata/fields.txt", "line 1: 'List of valid properties"},
    {"nyuad-hpc-load-gpu/gpu.txt", "line 1: '======"},  // a listing of a cluster's jobs
    {"p2pfdl-date-only/nvidia-smi.log", "line 1: 'Fri 21 Nov 2025"},
    {"yolo-fl-gpu-usage/gpu_usage.log", "line 1: '/var/log/gpu_usage.log'"},  // a dangling link's text
};

class SmiCsvCorpus : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* corpus = std::getenv("GRADWATT_CORPUS");
    if (corpus == nullptr || *corpus == '\0') GTEST_SKIP() << "GRADWATT_CORPUS is not set";
    folder_ = fs::path(corpus) / "smi-csv";
    if (!fs::is_directory(folder_)) GTEST_SKIP() << folder_ << " is not there";
  }
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_regular_file() && entry.path().filename() != "SOURCE.md") all.push_back(entry.path());
    std::ranges::sort(all);
    return all;
  }
  fs::path folder_;
};

void expect_sound(const record::Run& run, const std::string& name) {
  EXPECT_EQ(run.where(), record::Where::imported) << name;
  EXPECT_FALSE(run.devices.empty()) << name;
  for (const auto& series : run.series) {
    for (std::size_t i = 1; i < series.size(); ++i) ASSERT_LT(series.time_ns[i - 1], series.time_ns[i]) << name;
    for (const auto& column : series.columns) {
      ASSERT_EQ(column.values.size(), series.size()) << name;
      EXPECT_NE(run.find_quality(series.device, column.metric), nullptr) << name;
    }
  }
}

TEST_F(SmiCsvCorpus, EveryFileIsImportedWithTheRowsThatALineCountGivesOrRefusedWithLineAndReason) {
  std::size_t imported_files = 0, refused_files = 0;
  for (const auto& file : files()) {
    const auto name = fs::relative(file, folder_).string();
    const auto imported = import_files(std::vector{file});
    const auto known = std::ranges::find(kRefused, name, &Refusal::file);
    if (known != kRefused.end()) {
      ASSERT_FALSE(imported) << name << " was imported";
      EXPECT_THAT(imported.error().message, ::testing::HasSubstr(name));
      EXPECT_THAT(imported.error().message, ::testing::HasSubstr(known->reason));
      ++refused_files;
      continue;
    }
    ASSERT_TRUE(imported) << imported.error().message;
    if (name.starts_with("nvidia-gpu-exporter-captures/")) {
      std::size_t samples = 0;
      for (const auto& series : imported->run.series) samples += series.size();
      EXPECT_EQ(samples, rows_of_gpu_queries(file) + looks_of_tables_and_listings(file)) << name;
    } else {
      EXPECT_EQ(imported->rows, rows_below_header(file)) << name;
    }
    expect_sound(imported->run, name);
    ++imported_files;
  }
  std::cout << imported_files << " files imported, " << refused_files << " refused\n";
  EXPECT_GE(imported_files, 15U);
  EXPECT_EQ(refused_files, kRefused.size());
}

TEST_F(SmiCsvCorpus, TheMilliwattFileIsReadOnceItsUnitIsGiven) {
  const auto file = folder_ / "jetson-codecarbon/gpu_log.csv";
  const auto imported = import_files(std::vector{file}, {.units = {{"gpu_power_w", "mW"}}});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->rows, rows_below_header(file));
  const auto* power = imported->run.series.at(0).find(record::metric(record::DeviceKind::gpu, "power_avg"));
  EXPECT_NEAR(power->at(0).value(), 4.939, 1e-9);
}

TEST_F(SmiCsvCorpus, TheQueryWithoutTimeIsReadOnceAnIntervalIsGiven) {
  const auto file = folder_ / "nvidia-gpu-exporter-testdata/exporter/testdata/query.txt";
  const auto imported = import_files(std::vector{file}, {.interval = std::chrono::seconds(1)});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->rows, rows_below_header(file));
  EXPECT_EQ(imported->run.devices.size(), 2U);
}

TEST_F(SmiCsvCorpus, TheWideFileHasTheEnergyThatItsOwnSummaryStates) {
  const auto imported = import_files(std::vector{folder_ / "gpu-power-log-sjp/power_log.csv"});
  ASSERT_TRUE(imported) << imported.error().message;
  const std::map<std::size_t, double> stated{{0, 6616.065}, {1, 8643.701}};  // power_log_summary.csv, J
  for (const auto& [gpu, joules] : stated) {
    const auto& series = imported->run.series.at(gpu);
    const auto* power = series.find(record::metric(record::DeviceKind::gpu, "power_avg"));
    double sum = 0;
    for (std::size_t i = 1; i < series.size(); ++i)
      sum += (power->at(i).value() + power->at(i - 1).value()) / 2 *
             static_cast<double>(series.time_ns[i] - series.time_ns[i - 1]) * 1e-9;
    EXPECT_NEAR(sum, joules, 0.01 * joules) << gpu;
  }
}

}  // namespace
}  // namespace gradwatt::ingest
