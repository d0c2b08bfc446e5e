// plan as a script and a reader see it: presets, tables, runs, limits, job files, and what is learnt of a run.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gradwatt/report/golden.hpp"
#include "tests/integration/program_test.hpp"

namespace gradwatt {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kTable =
    "gpus,nodes,local_batch,accumulation,step_s,sync_s,cap_w,power_w,node_power_w\n"
    "1,1,64,1,0.100,,400,300,700\n"
    "2,1,64,1,0.110,0.010,400,290,1000\n"
    "4,1,64,1,0.115,0.015,400,285,1550\n"
    "4,1,32,1,0.070,0.015,400,270,1490\n"
    "8,2,64,1,0.130,0.030,400,275,1500\n"
    "4,1,64,1,0.125,0.015,240,238,1350\n"
    "4,1,64,1,0.160,0.015,180,179,1100\n";

/// Ranks that all step for `step_ms` with 32 samples each.
record::Run run_of(const std::string& id, int ranks, double step_ms) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  record::Run run;
  run.set(record::meta::kRunId, id);
  run.set(record::meta::kHost, std::string("node1"));
  run.set(record::meta::kComplete, std::string("1"));
  run.set(record::meta::kJobBegin, std::int64_t{0});
  run.set(record::meta::kAnchorMonotonic, std::int64_t{0});
  run.set(record::meta::kAnchorWall, std::int64_t{0});
  run.facts.push_back({.name = "job.world_size", .subject = "job", .value = static_cast<double>(ranks)});
  run.facts.push_back({.name = "job.model", .subject = "job", .value = std::string("toy")});
  std::int64_t end = 0;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < 200; ++i) {
      const auto step = static_cast<std::int64_t>(step_ms * (1 + 0.02 * (i % 5)) * kMillisecond);
      record::Mark mark{.rank = rank, .name = {}, .number = i, .begin_ns = i == 0 ? 0 : end, .samples = 32};
      if (i == 0) end = 0;
      mark.begin_ns = end;
      end += step;
      mark.end_ns = end;
      run.marks.push_back(mark);
    }
  run.set(record::meta::kJobEnd, end);
  return run;
}

class PlanCli : public ProgramTest {
 protected:
  PlanCli() { write("profile.csv", kTable); }
  void add_run(const std::string& id, int ranks, double step_ms) const { keep(id, run_of(id, ranks, step_ms)); }
};

TEST_F(PlanCli, APresetIsPlannedAndLabelledAsPublished) {
  const auto outcome = gradwatt("plan --preset resnet50-a100 --deadline 8h");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("published, not measured here"));
  report::testing::expect_same_as_file(outcome.out, "tests/golden/plan_resnet50_a100.txt");
}

TEST_F(PlanCli, NoLineIsWiderThanTheScreenAndNothingIsCutOff) {
  for (const auto* arguments :
       {"plan --preset resnet50-a100", "plan --profile profile.csv --epochs 90 --samples 1281167",
        "plan --profile profile.csv --deadline 1s --budget 1Wh"}) {
    std::istringstream lines(gradwatt(arguments).out);
    for (std::string line; std::getline(lines, line);) {
      const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; });
      EXPECT_LE(columns, 80) << line;
      EXPECT_EQ(line.find("…"), std::string::npos) << line;
    }
  }
}

TEST_F(PlanCli, JsonHoldsFrontChosenLimitsAndInputs) {
  const auto outcome = gradwatt("plan --profile profile.csv --epochs 90 --samples 1281167 --deadline 2d --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto answer = json::parse(outcome.out);
  EXPECT_EQ(answer["schema"], "gradwatt.plan/1");
  ASSERT_FALSE(answer["front"].empty());
  const auto& chosen = answer["chosen"];
  EXPECT_LE(chosen["time_s"]["value"].get<double>(), 2 * 86400);
  EXPECT_LT(chosen["time_s"]["low90"].get<double>(), chosen["time_s"]["value"].get<double>());
  EXPECT_GT(chosen["energy_j"]["high90"].get<double>(), chosen["energy_j"]["value"].get<double>());
  EXPECT_TRUE(std::ranges::any_of(answer["limits"], [](const json& limit) {
    return limit["name"] == "deadline" && limit["value"] == 2 * 86400 && limit["unit"] == "s";
  }));
  EXPECT_FALSE(answer["inputs"].empty());
  for (const auto& one : answer["front"])
    EXPECT_GE(one["energy_j"]["value"].get<double>() * 1.021, chosen["energy_j"]["value"].get<double>());
}

TEST_F(PlanCli, PricesAreTheUsersOwnAndABudgetOfMoneyNeedsThem) {
  const auto base = std::string("plan --profile profile.csv --epochs 90 --samples 1281167 ");
  const auto without = gradwatt(base + "--budget 20EUR");
  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, HasSubstr("say what things cost"));
  const auto with = gradwatt(base + "--budget 2000EUR --price 0.3 --gpu-hour-price 1.5 --pue 1.3 --co2 230 --json");
  ASSERT_EQ(with.status, 0) << with.err;
  const auto chosen = json::parse(with.out)["chosen"];
  const double kwh = chosen["facility_energy_j"].get<double>() / 3.6e6;
  EXPECT_NEAR(chosen["facility_energy_j"].get<double>(), 1.3 * chosen["energy_j"]["value"].get<double>(), 1);
  EXPECT_NEAR(chosen["cost"].get<double>(), 0.3 * kwh + 1.5 * chosen["gpu_hours"]["value"].get<double>(), 0.01);
  EXPECT_NEAR(chosen["co2_g"].get<double>(), 230 * kwh, 1);
}

TEST_F(PlanCli, ImpossibleAsksNameTheLimitAndTheNearestPlanWithStatusThree) {
  const auto outcome = gradwatt("plan --preset resnet50-a100 --deadline 5m --json");
  EXPECT_EQ(outcome.status, 3);
  const auto impossible = json::parse(outcome.out)["impossible"];
  EXPECT_EQ(impossible["binding"], json::array({"deadline"}));
  EXPECT_GT(impossible["nearest"]["time_s"]["value"].get<double>(), 300);
}

TEST_F(PlanCli, WrongUseAndUnusableInputGetOneClearLine) {
  write("empty.csv", "gpus,local_batch,step_s\n");
  write("broken.csv", "gpus,local_batch,step_s\n4,64,fast\n");
  struct Case {
    const char* arguments;
    int status;
    const char* says;
  };
  for (const auto& [arguments, status, says] : std::initializer_list<Case>{
           {"plan --preset resnet50-a10", 2, "did you mean resnet50-a100?"},
           {"plan --preset fourcastnet-h100", 3, "0.26 to 0.28 kWh a GPU-hour"},
           {"plan --profile empty.csv", 3, "holds no row"},
           {"plan --profile broken.csv", 3, "line 2 of the profile: step_s is \"fast\""},
           {"plan --profile none.csv", 3, "cannot read the profile"},
           {"plan --profile profile.csv --hardware H100", 2, "--gpu NAME"},
           {"plan --profile profile.csv --gpu 'A100 SXM4 40GB' --hardware H1000", 2, "no GPU is called 'H1000'"},
           {"plan --profile profile.csv --gpus 1,x", 2, "--gpus is '1,x'"},
           {"plan --profile profile.csv --batch 64", 2, "local=SAMPLES"},
           {"plan --profile profile.csv --deadline soon", 2, "--deadline is 'soon'"},
           {"plan --profile profile.csv --min-batch 100 --max-batch 10", 2, "larger than the largest"},
           {"plan --profile profile.csv --strategy ring", 2, "--cluster FILE.toml"},
           {"plan --profile profile.csv --epochs 3", 2, "--samples N"},
           {"plan --profile profile.csv --emit slurm", 2, "-- python train.py"},
           {"plan --profile profile.csv --emit slurm -- python train.py", 2, "--node-cores N"},
           {"plan --profile profile.csv --epochs-at 256", 2, "256=90,1024=94,8192=fail"},
           {"plan --learn last", 2, "--from, --profile or --preset"},
           {"plan", 3, "no run"}}) {
    const auto outcome = gradwatt(arguments);
    EXPECT_EQ(outcome.status, status) << arguments << "\n" << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(says)) << arguments;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }
}

TEST_F(PlanCli, TheJobFileHoldsPlanIdShapeAndPredictions) {
  const auto outcome = gradwatt(
      "plan --profile profile.csv --epochs 90 --samples 1281167 --gpus 8 --batch local=64 --name toy --emit slurm -o "
      "job.sh "
      "--node-cores 64 --site-cap-flag --gpu-power -- python train.py --batch-size {local_batch}");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  std::ifstream file(folder_ / "work" / "job.sh");
  const std::string script{std::istreambuf_iterator<char>(file), {}};
  for (const auto* line : {"#SBATCH --nodes=2", "#SBATCH --ntasks-per-node=4",
                           "--comment=gradwatt-plan:", "--batch-size 64", "nine times in ten", "gradwatt run"})
    EXPECT_THAT(script, HasSubstr(line));
}

TEST_F(PlanCli, WhatARunTurnedOutToTakeIsKeptAndChangesTheNextPlan) {
  add_run("one", 1, 100);
  add_run("two", 2, 105);
  const std::string base = "plan --from one two --epochs 10 --samples 100000 --gpus-per-node 8 ";
  const auto before = gradwatt(base + "--gpus 4 --batch local=32 --json");
  ASSERT_EQ(before.status, 0) << before.err;
  add_run("four", 4, 150);
  const auto learnt = gradwatt(base + "--learn four --json");
  ASSERT_EQ(learnt.status, 0) << learnt.err;
  const auto residual = json::parse(learnt.out)["rows"][0]["residuals"][0];
  EXPECT_EQ(residual["term"], "step");
  EXPECT_GT(residual["ratio"].get<double>(), 1.2);
  EXPECT_TRUE(fs::exists(folder_ / "fits" / "toy.json"));
  const auto after = gradwatt(base + "--gpus 4 --batch local=32 --json");
  ASSERT_EQ(after.status, 0) << after.err;
  const auto time = [](const Outcome& o) { return json::parse(o.out)["chosen"]["time_s"]["value"].get<double>(); };
  EXPECT_GT(time(after), 1.2 * time(before));
}

TEST_F(PlanCli, TrainingsAtSeveralBatchesSayWhatALargerOneCostsAndWhereItFails) {
  const std::string base =
      "plan --profile profile.csv --samples 1281167 --caps 400 --batch local=64 --gpus 4,16,64 --json ";
  const auto outcome = gradwatt(base + "--epochs-at 256=90,512=91,1024=94,4096=fail");
  ASSERT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  const auto answer = json::parse(outcome.out);
  for (const auto& one : answer["front"]) EXPECT_LE(one["global_batch"].get<double>(), 1024);
  const auto& fast = answer["front"].front();
  EXPECT_EQ(fast["global_batch"], 1024);
  EXPECT_NEAR(fast["samples"].get<double>() / 1281167, 94, 2);
  EXPECT_EQ(fast["risk_doublings"], 0);
}

TEST_F(PlanCli, AnotherGpuIsCarriedOverWithAWiderIntervalAndSaysSo) {
  const auto outcome = gradwatt(
      "plan --profile profile.csv --epochs 90 --samples 1281167 --gpus 4 --batch local=64 --caps 400 "
      "--gpu 'A100 SXM4 40GB' --hardware 'H100 SXM5 80GB' --json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const auto answer = json::parse(outcome.out);
  EXPECT_THAT(answer["inputs"].dump(), HasSubstr("carried over from A100 SXM4 40GB"));
}

TEST_F(PlanCli, AClusterFileStandsInForRunsOnTwoNodesAndGivesStrategiesTheirLinks) {
  write("one_node.csv", "gpus,local_batch,step_s,node_power_w\n1,64,0.1,700\n2,64,0.11,1000\n4,64,0.115,1550\n");
  write("big.toml",
        "nodes = 16\ngpus_per_node = 4\nnode_link_gbyte_per_s = 200\nnode_link_us = 2\nnics = 1\n"
        "gpu_idle_w = 60\ngpu_busy_w = 290\ngpu_comm_w = 130\n"
        "nic_gbit_per_s = 10\nnic_us = 5\nbase_w = 400\n");
  const std::string base = "plan --profile one_node.csv --gpus 32 --batch local=64 ";
  const auto without = gradwatt(base + "--gpus-per-node 4");
  EXPECT_EQ(without.status, 3);
  EXPECT_THAT(without.out, HasSubstr("profile two nodes"));
  const auto with = gradwatt(base + "--cluster big.toml --gradient-bytes 1e8 --strategy two-level,one-bit --json");
  ASSERT_EQ(with.status, 0) << with.err << with.out;
  const auto answer = json::parse(with.out);
  EXPECT_EQ(answer["chosen"]["strategy"], "one-bit");
  write("no_power.csv", "gpus,local_batch,step_s\n1,64,0.1\n2,64,0.11\n4,64,0.115\n");
  const auto described = gradwatt("plan --profile no_power.csv --gpus 4 --cluster big.toml --json");
  ASSERT_EQ(described.status, 0) << described.err;
  EXPECT_NEAR(json::parse(described.out)["chosen"]["node_power_avg_w"].get<double>(), 1500, 100);
  EXPECT_THAT(answer["notes"].dump(), HasSubstr("changes what is learnt"));
}

TEST_F(PlanCli, AnUnknownLengthIsToldForAMillionSamples) {
  const auto outcome = gradwatt("plan --profile profile.csv");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("for a million samples"));
}

}  // namespace
}  // namespace gradwatt
