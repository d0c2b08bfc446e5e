// diagnose, compare, baseline and doctor --lint as a script sees them.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/integration/program_test.hpp"

namespace gradwatt {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// A run of two ranks: steps of 10 ms work and `wait_ms` for the batch.
record::Run run_with_steps(const std::string& id, double wait_ms, std::int64_t begin_s, int workers) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  record::Run run;
  run.set(record::meta::kRunId, id);
  run.set(record::meta::kHost, std::string("node1"));
  run.set(record::meta::kComplete, std::string("1"));
  run.set(record::meta::kJobBegin, std::int64_t{0});
  run.set(record::meta::kAnchorMonotonic, std::int64_t{0});
  run.set(record::meta::kAnchorWall, begin_s * 1'000'000'000);
  run.facts.push_back({.name = "job.world_size", .subject = "job", .value = 2.0});
  run.facts.push_back({.name = "loader.workers", .subject = "process", .value = static_cast<double>(workers)});
  std::int64_t end = 0;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    std::int64_t now = 0;
    for (int i = 0; i < 100; ++i) {
      record::Mark mark{.rank = rank, .name = {}, .number = i, .begin_ns = now, .samples = 32};
      const auto wait = static_cast<std::int64_t>(wait_ms * (1 + 0.05 * (i % 5)) * kMillisecond);
      mark.phase_ns[static_cast<std::size_t>(record::Phase::data_wait)] = wait;
      mark.phase_ns[static_cast<std::size_t>(record::Phase::forward)] = 3 * kMillisecond;
      mark.phase_ns[static_cast<std::size_t>(record::Phase::backward)] = 7 * kMillisecond;
      now += wait + 10 * kMillisecond;
      mark.end_ns = now;
      run.marks.push_back(mark);
    }
    end = now;
  }
  run.set(record::meta::kJobEnd, end);
  return run;
}

class DiagnoseCli : public ProgramTest {
 protected:
  void add_run(const std::string& id, double wait_ms, std::int64_t begin_s = 0, int workers = 0) const {
    keep(id, run_with_steps(id, wait_ms, begin_s, workers));
  }
};

TEST_F(DiagnoseCli, NamesTheCauseOfARunWithEvidenceChangeAndProof) {
  add_run("slow", 20);
  const auto outcome = gradwatt("diagnose slow --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto answer = json::parse(outcome.out);
  EXPECT_EQ(answer["schema"], "gradwatt.diagnosis/1");
  ASSERT_FALSE(answer["findings"].empty());
  const auto& first = answer["findings"][0];
  EXPECT_EQ(first["cause"], "data:loader-synchronous");
  EXPECT_GT(first["confidence"].get<double>(), 0.9);
  EXPECT_THAT(first["evidence"][0]["text"].get<std::string>(), HasSubstr("wait for their batch"));
  EXPECT_THAT(first["remedy"].get<std::string>(), HasSubstr("num_workers"));
  EXPECT_THAT(first["verify"].get<std::string>(), HasSubstr("gradwatt compare"));
  EXPECT_NEAR(first["ceiling"].get<double>(), 0.68, 0.03);
}

TEST_F(DiagnoseCli, TextFitsATerminalAndSaysWhoMayChangeIt) {
  add_run("slow", 20);
  const auto outcome = gradwatt("diagnose slow");
  EXPECT_THAT(outcome.out, HasSubstr("1. The data loader has no worker processes"));
  EXPECT_THAT(outcome.out, HasSubstr("(you)"));
}

TEST_F(DiagnoseCli, FactsWrittenByHandGiveAVerdictAndFailOnItWhenAsked) {
  write("known.json",
        R"({"schema":"gradwatt.facts/1","facts":[{"name":"job.cpu_throttled_share","subject":"job","value":0.4}]})");
  const auto outcome = gradwatt("diagnose --facts known.json --json --fail-on host:cpu-quota");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out)["findings"][0]["cause"], "host:cpu-quota");
  EXPECT_EQ(gradwatt("diagnose --facts known.json --fail-on thermal:throttling").status, 0);
}

TEST_F(DiagnoseCli, TooFewFactsSayWhatWouldDecide) {
  write("known.json",
        R"({"schema":"gradwatt.facts/1","facts":[{"name":"gpu.utilization_pct","subject":"job","value":99}]})");
  const auto answer = json::parse(gradwatt("diagnose --facts known.json --json").out);
  EXPECT_TRUE(answer["findings"].empty());
  EXPECT_FALSE(answer["decided"].get<bool>());
  ASSERT_FALSE(answer["missing"].empty());
  for (const auto& missing : answer["missing"]) EXPECT_FALSE(missing["how"].get<std::string>().empty());
}

TEST_F(DiagnoseCli, PrintsWhatItRestsOnAsAFactsFileThatItReadsAgain) {
  add_run("slow", 20);
  const auto facts = gradwatt("diagnose slow --format facts");
  write("again.json", facts.out);
  const auto again = gradwatt("diagnose --facts again.json --json");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(json::parse(again.out)["findings"][0]["cause"], "data:loader-synchronous");
}

TEST_F(DiagnoseCli, WrongUseGetsOneClearLine) {
  add_run("slow", 20);
  write("broken.json", R"({"schema":"gradwatt.facts/1","facts":[{"name":"gpu.utilisation","value":1}]})");
  struct Case {
    const char* arguments;
    int status;
    const char* says;
  };
  for (const auto& [arguments, status, says] :
       {Case{"diagnose --fail-on data:nothing slow", 2, "--fail-on"}, Case{"diagnose nowhere", 3, "nowhere"},
        Case{"diagnose --facts broken.json", 3, "gpu.utilisation"}, Case{"compare slow", 2, "name two runs"},
        Case{"compare slow slow --fail-on slower", 2, "regression=3%"},
        Case{"compare slow slow --cause nothing", 2, "--cause"}, Case{"baseline save slow", 2, "--name"},
        Case{"baseline check slow --name none", 3, "none"}, Case{"baseline save slow --name ../up", 2, "../up"}}) {
    const auto outcome = gradwatt(arguments);
    EXPECT_EQ(outcome.status, status) << arguments << ": " << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(says)) << arguments;
  }
}

TEST_F(DiagnoseCli, ComparesOneRunEachAndIsLikelyAtMost) {
  add_run("before", 20);
  add_run("after", 0.1, 100, 4);
  const auto answer = json::parse(gradwatt("compare before after --json").out);
  EXPECT_EQ(answer["verdict"], "likely");
  EXPECT_EQ(answer["metrics"][0]["interval"], "steps");
  EXPECT_GT(answer["metrics"][0]["low"].get<double>(), 1);
  EXPECT_EQ(answer["cause"]["name"], "step.data_wait_share");
}

TEST_F(DiagnoseCli, ProvesWithThreePairsTakenInTurn) {
  for (int i = 0; i < 3; ++i) {
    add_run("a" + std::to_string(i), 20 + 0.1 * i, 200 * i);
    add_run("b" + std::to_string(i), 2 + 0.1 * i, 200 * i + 100, 4);
  }
  const auto answer = json::parse(gradwatt("compare a0 a1 a2 --vs b0 b1 b2 --json").out);
  EXPECT_EQ(answer["verdict"], "proven") << answer.dump(1);
  EXPECT_EQ(answer["pairs"], 3);
}

TEST_F(DiagnoseCli, ARegressionSetsTheExitStatus) {
  add_run("before", 2);
  add_run("after", 20, 100);
  EXPECT_EQ(gradwatt("compare before after --fail-on regression=3%").status, 1);
  EXPECT_EQ(gradwatt("compare after before --fail-on regression=3%").status, 0);
}

TEST_F(DiagnoseCli, ABaselineHoldsLaterRunsAgainstAGoodOne) {
  add_run("good", 2);
  add_run("bad", 20, 100);
  EXPECT_EQ(gradwatt("baseline save good --name yardstick").status, 0);
  EXPECT_EQ(gradwatt("baseline check good --name yardstick").status, 0);
  const auto failed = gradwatt("baseline check bad --name yardstick");
  EXPECT_EQ(failed.status, 1);
  EXPECT_THAT(failed.out, HasSubstr("data:loader-synchronous"));
  EXPECT_THAT(gradwatt("baseline list").out, HasSubstr("yardstick"));
  EXPECT_EQ(gradwatt("baseline remove --name yardstick").status, 0);
  EXPECT_EQ(gradwatt("baseline check good --name yardstick").status, 3);
  EXPECT_EQ(gradwatt("baseline remove --name resnet50-pytorch-a100-amp").status, 2);
}

TEST_F(DiagnoseCli, LintJudgesTheEnvironment) {
  const auto answer = json::parse(gradwatt("doctor --lint --json", "NCCL_ALGO=Tree CUDA_LAUNCH_BLOCKING=1").out);
  EXPECT_EQ(answer["schema"], "gradwatt.lint/1");
  ASSERT_GE(answer["lint"].size(), 2);
  EXPECT_EQ(answer["lint"][0]["severity"], "wrong");
}

}  // namespace
}  // namespace gradwatt
