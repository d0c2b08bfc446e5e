// The program as a script sees it: exit statuses, one clear line on stderr for wrong use, results on stdout.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/integration/program_test.hpp"

namespace gradwatt {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

namespace fs = std::filesystem;
using nlohmann::json;

/// Two GPUs with counters, ten seconds, 100 W and 200 W.
record::Run small_run(const std::string& id) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  record::Run run;
  run.set(record::meta::kRunId, id);
  run.set(record::meta::kHost, std::string("node1"));
  run.set(record::meta::kCommand, std::string("python train.py"));
  run.set(record::meta::kComplete, std::string("1"));
  run.set(record::meta::kExitStatus, std::int64_t{0});
  run.set(record::meta::kJobBegin, kSecond);
  run.set(record::meta::kJobEnd, 11 * kSecond);
  run.set(record::meta::kAnchorMonotonic, kSecond);
  run.set(record::meta::kAnchorWall, std::int64_t{1'700'000'000} * kSecond);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const record::DeviceIndex device{i};
    run.devices.push_back(
        {record::DeviceKind::gpu, "GPU-" + std::to_string(i), "A100", static_cast<int>(i), "node1", {}});
    record::DeviceSeries series{device, {}, {}};
    for (std::int64_t t = 1; t <= 11; ++t) series.time_ns.push_back(t * kSecond);
    auto& energy = series.column(record::metric(record::DeviceKind::gpu, "energy")).values;
    for (std::size_t t = 0; t < energy.size(); ++t) energy[t] = static_cast<std::int64_t>(t) * (i + 1) * 100'000'000;
    run.series.push_back(std::move(series));
    record::SeriesQuality quality;
    quality.device = device, quality.metric = record::metric(record::DeviceKind::gpu, "energy");
    quality.cadence_ns = kSecond, quality.readings = 11;
    run.quality.push_back(quality);
  }
  return run;
}

class Cli : public ProgramTest {
 protected:
  void add_run(const std::string& id) const { keep(id, small_run(id)); }
  /// Exactly one line on stderr, nothing on stdout, no trace of the inside.
  static void expect_one_line(const Outcome& outcome, int status) {
    EXPECT_EQ(outcome.status, status);
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_THAT(outcome.err, StartsWith("gradwatt: "));
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
};

struct WrongUse {
  const char* arguments;
  int status;
  const char* says;
};
void PrintTo(const WrongUse& use, std::ostream* out) { *out << use.arguments; }

class WrongUseTest : public Cli, public ::testing::WithParamInterface<WrongUse> {};
TEST_P(WrongUseTest, GetsOneClearLine) {
  add_run("20261130-a");
  add_run("20261130-b");
  write("garbage.csv", "this is no recording\n\x01\x02\n");
  write("garbage.db", "nor a record");
  fs::create_directories(folder_ / "work" / "empty");
  write("gradwatt.toml", "");
  const auto outcome = gradwatt(GetParam().arguments);
  expect_one_line(outcome, GetParam().status);
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().says));
}
INSTANTIATE_TEST_SUITE_P(
    All, WrongUseTest,
    ::testing::Values(
        WrongUse{"", 2, "no verb given"}, WrongUse{"reprot", 2, "unknown verb 'reprot', did you mean 'report'?"},
        WrongUse{"xyzzy", 2, "unknown verb 'xyzzy'"}, WrongUse{"--versoin", 2, "unknown option '--versoin'"},
        WrongUse{"help reprot", 2, "did you mean 'report'?"},
        WrongUse{"report --jsn", 2, "unknown option '--jsn', did you mean '--json'?"},
        WrongUse{"report --format jsn", 2, "unknown format 'jsn', did you mean 'json'?"},
        WrongUse{"report --format html", 2, "there are text, json, csv"},
        WrongUse{"report --format text --json", 2, "contradicts"},
        WrongUse{"report --raw --json", 2, "raw samples are CSV"}, WrongUse{"report --format", 2, "--format"},
        WrongUse{"report last extra", 2, "unexpected argument 'extra'"},
        WrongUse{"report --pue 0.5", 2, "--pue: pue is '0.5', but must be a number of at least 1"},
        WrongUse{"report nope", 3, "there is no run or file 'nope'"}, WrongUse{"report 20261130", 3, "fits 2 runs"},
        WrongUse{"report garbage.csv", 3, "garbage.csv"}, WrongUse{"report garbage.db", 3, "is not a run record"},
        WrongUse{"report empty", 3, "holds no run record"},
        WrongUse{"report last -o missing/out.txt", 4, "cannot write"},
        WrongUse{"runs lst", 2, "unexpected argument 'lst', did you mean 'list'?"},
        WrongUse{"runs rm 20261130-a", 2, "say --yes"}, WrongUse{"runs rm --yes ../work", 2, "is a path"},
        WrongUse{"runs rm", 2, "RUN is required"}, WrongUse{"runs name last ../x", 2, "cannot be a run's name"},
        WrongUse{"runs name last 20261130-a", 2, ""}, WrongUse{"completion zsh", 2, "unknown shell 'zsh'"},
        WrongUse{"doctor --sensors nvlm", 2, "unknown sensor source 'nvlm'"},
        WrongUse{"import garbage.csv", 2, "--output is required"},
        WrongUse{"import garbage.csv -o new", 3, "garbage.csv"},
        WrongUse{"import missing.csv -o new", 3, "missing.csv"},
        WrongUse{"import garbage.csv -o new --interval 0", 2, "a time above zero"}));

TEST_F(Cli, ABadSettingOfTheEnvironmentIsWrongUse) {
  const auto outcome = gradwatt("config", "GRADWATT_INTERVAL=0");
  expect_one_line(outcome, 2);
  EXPECT_THAT(outcome.err, HasSubstr("GRADWATT_INTERVAL: interval is '0', but must be a time"));
}

TEST_F(Cli, AnUnknownKeyInAFileIsOneWarningAndWorkGoesOn) {
  write("gradwatt.toml", "intervall = '2s'\n");
  const auto outcome = gradwatt("config path");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err,
              HasSubstr("gradwatt.toml:1: unknown setting 'intervall' is ignored; did you mean 'interval'?"));
}

TEST_F(Cli, VersionAndHelpGoToStandardOutput) {
  EXPECT_THAT(gradwatt("--version").out, StartsWith("gradwatt "));
  for (const auto* ask : {"help", "--help", "-h"}) {
    const auto outcome = gradwatt(ask);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_THAT(outcome.out, HasSubstr("usage: gradwatt VERB"));
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

TEST_F(Cli, EveryVerbExplainsItself) {
  for (const auto* verb : {"report", "import", "runs", "doctor", "config", "completion"}) {
    const auto outcome = gradwatt(std::string("help ") + verb);
    EXPECT_EQ(outcome.status, 0) << verb;
    EXPECT_THAT(outcome.out, HasSubstr(std::string("Usage: gradwatt ") + verb));
    EXPECT_EQ(outcome.out, gradwatt(std::string(verb) + " --help").out);
  }
}

TEST_F(Cli, ReportNamesARunInEveryWayThatUsersDo) {
  add_run("20261130-a");
  ASSERT_EQ(gradwatt("runs name 20261130-a baseline").status, 0);
  fs::create_directory_symlink(store() / "20261130-a", folder_ / "work" / "folder");
  for (const auto* run : {"", "last", "20261130-a", "2026", "baseline", "folder", "folder/node1.db"}) {
    const auto outcome = gradwatt(std::string("report --json ") + run);
    ASSERT_EQ(outcome.status, 0) << run << outcome.err;
    const auto report = json::parse(outcome.out);
    EXPECT_EQ(report["run_id"], "20261130-a") << run;
    EXPECT_DOUBLE_EQ(report["energy"]["energy_j"].get<double>(), 3000) << run;
    EXPECT_EQ(report["energy"]["how"], "counter");
    EXPECT_EQ(report["exit_status"], 0);
    EXPECT_EQ(report["duration_s"], 10);
  }
}

TEST_F(Cli, ReportHasTextSummaryAndRawSamples) {
  add_run("20261130-a");
  const auto text = gradwatt("report --pue 1.5");
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.out, HasSubstr("python train.py"));
  EXPECT_THAT(text.out, HasSubstr("300 W"));
  EXPECT_THAT(text.out, HasSubstr("with PUE 1.5"));
  EXPECT_THAT(text.out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(gradwatt("report --format csv").out, HasSubstr(",component,gpu,"));
  const auto raw = gradwatt("report --raw").out;
  EXPECT_EQ(std::ranges::count(raw, '\n'), 1 + 2 * 11);
  EXPECT_THAT(raw, StartsWith("time_s,time_utc,host,kind,index,uuid,gpu_energy_j\n"));
  EXPECT_EQ(gradwatt("report --json -o out.json").out, "");
  EXPECT_EQ(json::parse(content_of(folder_ / "work" / "out.json"))["schema"], "gradwatt.report/1");
}

TEST_F(Cli, AFullDiskUnderTheResultIsNotSuccess) {
  add_run("20261130-a");
  const auto outcome = gradwatt("report -o /dev/full");
  expect_one_line(outcome, 4);
}

TEST_F(Cli, RunsAreListedShownNamedAndRemoved) {
  add_run("20261130-a");
  add_run("20261130-b");
  const auto listed = json::parse(gradwatt("runs list --json").out);
  EXPECT_EQ(listed["schema"], "gradwatt.runs/1");
  ASSERT_EQ(listed["runs"].size(), 2U);
  EXPECT_EQ(listed["runs"][0]["begin_utc"], "2023-11-14T22:13:20.000Z");
  EXPECT_EQ(listed["runs"][0]["gpus"], 2);
  EXPECT_THAT(gradwatt("runs").out, HasSubstr("python train.py"));
  EXPECT_THAT(gradwatt("runs show 20261130-b").out, HasSubstr("GPU-1"));
  EXPECT_EQ(gradwatt("runs name 20261130-b good").status, 0);
  EXPECT_THAT(gradwatt("runs list").out, HasSubstr("20261130-b (good)"));
  EXPECT_EQ(gradwatt("runs rm --yes good").status, 0);
  EXPECT_FALSE(fs::exists(store() / "20261130-b"));
  EXPECT_TRUE(fs::exists(store() / "20261130-a"));
}

TEST_F(Cli, ARecordThatCannotBeReadIsListedWithTheReason) {
  fs::create_directories(store() / "broken");
  std::ofstream(store() / "broken" / "node1.db") << "not a record";
  const auto outcome = gradwatt("runs list");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("is not a run record"));
}

TEST_F(Cli, ConfigSaysWhereEachValueComesFrom) {
  write("gradwatt.toml", "interval = '2s'\n");
  const auto config = json::parse(gradwatt("config --json", "GRADWATT_PUE=1.2").out);
  for (const auto& setting : config["settings"]) {
    if (setting["key"] == "interval") {
      EXPECT_THAT(setting["source"].get<std::string>(), HasSubstr("gradwatt.toml:1"));
    }
    if (setting["key"] == "pue") {
      EXPECT_EQ(setting["source"], "GRADWATT_PUE");
      EXPECT_EQ(setting["value"], 1.2);
    }
  }
}

TEST_F(Cli, CompletionKnowsVerbsOptionsAndRuns) {
  add_run("20261130-a");
  ASSERT_EQ(gradwatt("runs name last good").status, 0);
  EXPECT_THAT(gradwatt("completion words re").out, HasSubstr("report\n"));
  EXPECT_THAT(gradwatt("completion words report --").out, HasSubstr("--json\n"));
  const auto runs = gradwatt("completion words report ''").out;
  for (const auto* word : {"last\n", "20261130-a\n", "good\n"}) EXPECT_THAT(runs, HasSubstr(word));
  EXPECT_THAT(gradwatt("completion words runs ''").out, HasSubstr("list\n"));
  EXPECT_THAT(gradwatt("completion words run -- ''").out, IsEmpty());
  EXPECT_EQ(
      std::system("command -v bash >/dev/null && '" GRADWATT_BINARY_DIR "/bin/gradwatt' completion bash | bash -n"), 0);
}

TEST_F(Cli, DoctorAnswersWhateverTheMachineHas) {
  const auto outcome = gradwatt("doctor --json");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(json::parse(outcome.out)["schema"], "gradwatt.doctor/1");
  EXPECT_EQ(gradwatt("doctor").status, 0);
}

}  // namespace
}  // namespace gradwatt
