#include "gradwatt/record/store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "gradwatt/record/sqlite.hpp"

namespace gradwatt::record {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr MetricId kEnergy = metric(DeviceKind::gpu, "energy");
constexpr MetricId kPower = metric(DeviceKind::gpu, "power_avg");
constexpr MetricId kClock = metric(DeviceKind::gpu, "sm_clock");

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::temp_directory_path() /
                     ("gradwatt-store-" + std::to_string(::getpid()) + "-" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name());
  fs::path file_ = folder_ / "host.db";
};

Device gpu(const std::string& uuid) { return {DeviceKind::gpu, uuid, "Test GPU", 0, "host", {{"power_limit_w", "700"}}}; }

Row sample(std::int64_t t, std::optional<std::int64_t> power, std::int64_t energy) {
  auto row = empty_row(DeviceIndex{0}, DeviceKind::gpu, t);
  if (power) row.values[slot(kPower)] = *power;
  row.values[slot(kEnergy)] = energy;
  row.raw[slot(kEnergy)] = energy + 1000;
  return row;
}

void write_samples(Writer& writer, int n) {
  writer.add_device(DeviceIndex{0}, gpu("GPU-1"));
  for (int i = 0; i < n; ++i) writer.add_row(sample(i, i == 1 ? std::nullopt : std::optional(250'000), i * 10));
}

TEST_F(StoreTest, WhatWasWrittenIsReadBack) {
  {
    auto writer = Writer::create(file_);
    ASSERT_TRUE(writer) << writer.error().message;
    write_samples(**writer, 3);
    (*writer)->set_meta(meta::kRunId, "r1");
    Mark mark;
    mark.number = 7;
    mark.samples = 64;
    mark.phase_ns[0] = 5;
    (*writer)->add_mark(mark);
    (*writer)->add_event({3, 0, "sensor.lost", "gone"});
    (*writer)->add_fact({"job.world_size", "job", 2.0, "", 4, How::counter, Where::live, 1.0, "test"});
    (*writer)->add_fact({"job.backend", "process", std::string("gloo"), "", {}, How::counter, Where::live, {}, "test"});
    SeriesQuality quality;
    quality.metric = kPower;
    quality.duty = 0.25;
    quality.sampling = Sampling::stratified;
    quality.failed = 1;
    quality.standard_error = 1.5;
    (*writer)->set_quality(quality);
    EXPECT_TRUE((*writer)->close(5s));
    EXPECT_EQ((*writer)->health().rows_written, 3U);
  }
  EXPECT_FALSE(fs::exists(file_.string() + "-wal"));
  const auto run = load_file(file_, {.raw_counters = true});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE(run->complete());
  EXPECT_EQ(run->text(meta::kRunId), "r1");
  ASSERT_EQ(run->series.size(), 1U);
  const auto& series = run->series[0];
  EXPECT_EQ(series.time_ns, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(series.find(kPower)->at(0), 250.0);
  EXPECT_EQ(series.find(kPower)->at(1), std::nullopt);
  EXPECT_EQ(series.find(kEnergy)->values[2], 20);
  EXPECT_EQ(series.find(kEnergy)->raw[2], 1020);
  EXPECT_EQ(series.find(kClock), nullptr);
  ASSERT_EQ(run->marks.size(), 1U);
  EXPECT_EQ(run->marks[0].samples, 64);
  EXPECT_EQ(run->marks[0].phase_ns[0], 5);
  EXPECT_EQ(run->marks[0].phase_ns[1], std::nullopt);
  ASSERT_EQ(run->facts.size(), 2U);
  EXPECT_EQ(as_number(run->facts[0]), 2.0);
  EXPECT_EQ(as_text(run->facts[1]), "gloo");
  const auto* quality = run->find_quality(DeviceIndex{0}, kPower);
  ASSERT_NE(quality, nullptr);
  EXPECT_EQ(quality->duty, 0.25);
  EXPECT_EQ(quality->sampling, Sampling::stratified);
  EXPECT_EQ(quality->uncertainty, std::nullopt);
  EXPECT_EQ(quality->standard_error, 1.5);
  EXPECT_EQ(run->devices[0].attributes.at("power_limit_w"), "700");
}

TEST_F(StoreTest, OnlyTheColumnsAskedForAreLoaded) {
  {
    auto writer = Writer::create(file_);
    write_samples(**writer, 3);
    (*writer)->close(5s);
  }
  const auto run = load_file(file_, {.metrics = std::vector{kPower}});
  ASSERT_TRUE(run);
  EXPECT_EQ(run->series.at(0).columns.size(), 1U);
}

TEST_F(StoreTest, ARecordIsReadWhileItIsWritten) {
  auto writer = Writer::create(file_);
  write_samples(**writer, 100);
  ASSERT_TRUE((*writer)->flush(5s));
  const auto run = load_file(file_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->series.at(0).size(), 100U);
  EXPECT_FALSE(run->complete());
  write_samples(**writer, 1);
  EXPECT_TRUE((*writer)->close(5s));
}

TEST_F(StoreTest, AfterKillMinusNineTheRestIsRead) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto writer = Writer::create(file_);
    write_samples(**writer, 50);
    (*writer)->flush(5s);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto run = load_file(file_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->series.at(0).size(), 50U);
  EXPECT_FALSE(run->complete());
}

TEST_F(StoreTest, AColumnThatAppearsLateIsAdded) {
  auto writer = Writer::create(file_);
  write_samples(**writer, 2);
  ASSERT_TRUE((*writer)->flush(5s));
  auto row = empty_row(DeviceIndex{0}, DeviceKind::gpu, 10);
  row.values[slot(kClock)] = 1980;
  (*writer)->add_row(row);
  EXPECT_TRUE((*writer)->close(5s));
  const auto run = load_file(file_);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->series.at(0).find(kClock)->at(0), std::nullopt);
  EXPECT_EQ(run->series.at(0).find(kClock)->at(2), 1980.0);
}

TEST_F(StoreTest, ARecordInMemoryIsReadBackByItsWriter) {
  auto writer = Writer::create({});
  ASSERT_TRUE(writer);
  write_samples(**writer, 4);
  EXPECT_TRUE((*writer)->close(5s));
  const auto run = (*writer)->read_back({});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->series.at(0).size(), 4U);
}

TEST_F(StoreTest, AnExistingFileIsNotOverwritten) {
  std::ofstream(file_) << "mine";
  const auto writer = Writer::create(file_);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code, core::Errc::wrong_use);
}

TEST_F(StoreTest, AFullDiskCostsRowsAndIsSaidOnceButTheReportStillHasThem) {
  auto writer = Writer::create(file_);
  write_samples(**writer, 10);
  ASSERT_TRUE((*writer)->flush(5s));
  // The kernel refuses every further byte of this process's files, as a full disk does.
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{4096, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &tight);
  for (int i = 10; i < 200; ++i) (*writer)->add_row(sample(i, 250'000, i * 10));
  EXPECT_FALSE((*writer)->close(5s));
  ::setrlimit(RLIMIT_FSIZE, &old);
  const auto health = (*writer)->health();
  ASSERT_TRUE(health.failure);
  EXPECT_NE(health.failure->find(file_.string()), std::string::npos);
  EXPECT_EQ(health.rows_lost, 190U);
  const auto live = (*writer)->read_back({});
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_EQ(live->series.at(0).find(kEnergy)->values.back(), 1990);
  writer->reset();
  const auto run = load_file(file_);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->series.at(0).size(), 10U);
  EXPECT_FALSE(run->complete());
}

TEST_F(StoreTest, GarbageIsRefusedWithTheNameOfTheFile) {
  std::ofstream(file_) << "not a database at all, only text that is long enough";
  const auto run = load_file(file_);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, core::Errc::unusable_input);
  EXPECT_NE(run.error().message.find(file_.string()), std::string::npos);
}

TEST_F(StoreTest, ATruncatedRecordIsRefusedOrReadButNeverCrashes) {
  {
    auto writer = Writer::create(file_);
    write_samples(**writer, 2000);
    (*writer)->close(5s);
  }
  const auto size = fs::file_size(file_);
  for (const auto keep : {size - 1, size / 2, size / 3, std::uintmax_t{100}, std::uintmax_t{15}}) {
    fs::resize_file(file_, keep);
    const auto run = load_file(file_);
    if (!run) {
      EXPECT_NE(run.error().message.find(file_.string()), std::string::npos);
    }
  }
}

TEST_F(StoreTest, ANewerSchemaIsRefusedWithBothVersions) {
  {
    auto writer = Writer::create(file_);
    (*writer)->close(5s);
  }
  {
    auto database = sqlite::Database::open(file_.string(), SQLITE_OPEN_READWRITE);
    ASSERT_TRUE(database);
    database->execute("PRAGMA user_version=99");
  }
  const auto run = load_file(file_);
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().message.find("99"), std::string::npos);
}

TEST_F(StoreTest, HostsOfAFolderBecomeOneRunOnOneClock) {
  record::Run a;
  a.devices = {gpu("GPU-a")};
  a.set(meta::kHost, std::string("a"));
  a.set(meta::kAnchorMonotonic, 1000);
  a.set(meta::kAnchorWall, 50'000);
  a.set(meta::kJobBegin, 1000);
  a.set(meta::kJobEnd, 2000);
  a.set(meta::kExitStatus, 0);
  a.series = {{DeviceIndex{0}, {1000, 2000}, {{kPower, {1, 2}, {}}}}};
  record::Run b = a;
  b.devices = {gpu("GPU-b")};
  b.set(meta::kHost, std::string("b"));
  b.set(meta::kAnchorMonotonic, 7000);
  b.set(meta::kJobBegin, 7100);
  b.set(meta::kJobEnd, 8500);
  b.set(meta::kExitStatus, 3);
  b.series[0].time_ns = {7100, 8100};
  ASSERT_TRUE(save(a, folder_ / "a.db"));
  ASSERT_TRUE(save(b, folder_ / "b.db"));
  const auto run = load_folder(folder_);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->devices.size(), 2U);
  EXPECT_EQ(run->series.at(1).device, DeviceIndex{1});
  EXPECT_EQ(run->series.at(1).time_ns, (std::vector<std::int64_t>{1100, 2100}));
  EXPECT_EQ(run->number_of(meta::kJobEnd), 2500);
  EXPECT_EQ(run->number_of(meta::kExitStatus), 3);
  EXPECT_EQ(run->text(meta::kHost), "a,b");
}

TEST_F(StoreTest, TheHeadHoldsNoSamples) {
  record::Run run;
  run.devices = {gpu("GPU-a")};
  run.set(meta::kRunId, std::string("x"));
  run.series = {{DeviceIndex{0}, {1, 2}, {{kPower, {1, 2}, {}}}}};
  ASSERT_TRUE(save(run, file_));
  const auto head = load_head(folder_);
  ASSERT_TRUE(head);
  EXPECT_TRUE(head->series.empty());
  EXPECT_EQ(head->devices.size(), 1U);
}

}  // namespace
}  // namespace gradwatt::record
