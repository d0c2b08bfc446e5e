#include "gradwatt/diagnosis/diagnose.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <set>

#include "tests/doubles/made_fact.hpp"

namespace gradwatt::diagnosis {
namespace {

using doubles::fact;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

using Facts = std::vector<record::Fact>;

Diagnosis verdict_on(Facts facts) { return diagnose(FactSheet(std::move(facts))); }

std::vector<std::string> causes_of(const Diagnosis& verdict) {
  std::vector<std::string> out;
  for (const auto& finding : verdict.findings) out.emplace_back(finding.info->cause);
  return out;
}

double confidence_in(const Diagnosis& verdict, std::string_view cause) {
  for (const auto* list : {&verdict.findings, &verdict.candidates})
    for (const auto& finding : *list)
      if (finding.info->cause == cause) return finding.confidence;
  return 0;
}

const Facts kNoWorkers{fact("loader.workers", 0.0), fact("step.data_wait_share", 0.38)};

TEST(Diagnose, WithoutFactsNothingIsFoundAndAMeasurementIsAskedFor) {
  const auto verdict = verdict_on({});
  EXPECT_FALSE(verdict.decided());
  EXPECT_THAT(verdict.candidates, IsEmpty());
  EXPECT_THAT(verdict.missing, Not(IsEmpty()));
}

TEST(Diagnose, TheSameFactsGiveTheSameVerdict) {
  const auto once = verdict_on(kNoWorkers), again = verdict_on(kNoWorkers);
  EXPECT_EQ(causes_of(once), causes_of(again));
  EXPECT_EQ(once.findings.front().confidence, again.findings.front().confidence);
}

TEST(Diagnose, AFindingIsAnArgument) {
  const auto verdict = verdict_on(kNoWorkers);
  ASSERT_TRUE(verdict.decided());
  const auto& first = verdict.findings.front();
  EXPECT_EQ(first.info->cause, "data:loader-synchronous");
  EXPECT_GT(first.confidence, kShown);
  EXPECT_LT(first.confidence, 1);
  EXPECT_THAT(first.evidence, SizeIs(2));
  EXPECT_EQ(first.advice.owner, "user");
  EXPECT_NE(first.advice.rollback, "");
  EXPECT_THAT(first.verify, testing::HasSubstr("step.data_wait_share must move"));
  EXPECT_EQ(first.ceiling, 0.38);
}

TEST(Diagnose, AContradictionRulesACauseOutWhateverSpeaksForIt) {
  auto facts = kNoWorkers;
  facts.front() = fact("loader.workers", 8.0);
  EXPECT_EQ(confidence_in(verdict_on(facts), "data:loader-synchronous"), 0);
  EXPECT_EQ(confidence_in(verdict_on({fact("loader.workers", 0.0), fact("step.data_wait_share", 0.005)}),
                          "data:loader-synchronous"),
            0);
}

TEST(Diagnose, IndependentEvidenceAddsUp) {
  auto facts = kNoWorkers;
  const double two = confidence_in(verdict_on(facts), "data:loader-synchronous");
  facts.push_back(fact("main.cpu_share", 0.95));
  EXPECT_GT(confidence_in(verdict_on(facts), "data:loader-synchronous"), two);
  EXPECT_LT(confidence_in(verdict_on({facts.front()}), "data:loader-synchronous"), two);
}

TEST(Diagnose, OneSymptomToldByTwoWitnessesCountsOnce) {
  auto facts = kNoWorkers;
  const double once = confidence_in(verdict_on(facts), "data:loader-synchronous");
  facts.push_back(fact("trace.loader_share", 0.38));
  facts.push_back(fact("step.data_wait_s", 0.38));
  facts.push_back(fact("step.time_s", 1.0));
  EXPECT_EQ(confidence_in(verdict_on(facts), "data:loader-synchronous"), once);
}

TEST(Diagnose, OneSymptomSeenOnEightCardsCountsOnce) {
  const auto on = [](int cards) {
    Facts facts;
    for (int i = 0; i < cards; ++i) {
      const auto gpu = "GPU " + std::to_string(i);
      facts.push_back(fact("gpu.power_limit_w", 250.0, gpu));
      facts.push_back(fact("gpu.power_limit_default_w", 400.0, gpu));
      facts.push_back(fact("gpu.held_power_cap_share", 0.9, gpu));
      facts.push_back(fact("gpu.power_avg_w", 248.0, gpu));
    }
    return confidence_in(verdict_on(facts), "power:limit-lowered");
  };
  EXPECT_GT(on(1), kShown);
  EXPECT_EQ(on(8), on(1));
}

TEST(Diagnose, AWaitForDataAloneNamesNoCauseAndAsksWhatWould) {
  const auto verdict = verdict_on({fact("step.data_wait_share", 0.4)});
  EXPECT_FALSE(verdict.decided());
  EXPECT_THAT(verdict.candidates, Not(IsEmpty()));
  EXPECT_THAT(verdict.missing, Contains(Field(&Missing::fact, "loader.workers")));
}

TEST(Diagnose, OfAJobOnCpusNoFigureOfGpusIsAskedFor) {
  const auto asks_of_gpus = [](const Facts& facts) {
    return std::ranges::any_of(verdict_on(facts).missing, [](const auto& m) { return m.fact.starts_with("gpu."); });
  };
  const auto waits = fact("step.data_wait_share", 0.01), busy = fact("job.cores_busy", 1.8);
  EXPECT_TRUE(asks_of_gpus({waits, busy}));
  EXPECT_FALSE(asks_of_gpus({waits, busy, fact("job.device", "cpu")}));
}

TEST(Diagnose, ACircumstanceWithoutASymptomIsNoFinding) {
  for (const auto& circumstance :
       Facts{fact("loader.workers", 0.0), fact("host.acs", "on"), fact("host.iommu", "translating"),
             fact("job.sync_batch_norm", 1.0), fact("job.lengths_vary", 1.0), fact("gpu.name", "RTX 4090"),
             fact("host.data_storage", "hdd"), fact("loader.transfer", "pickle"), fact("comm.transport", "shm"),
             fact("loader.pin_memory", 0.0)})
    EXPECT_FALSE(verdict_on({circumstance, fact("gpu.count", 2.0)}).decided()) << circumstance.name;
}

TEST(Diagnose, BusyAtLowPowerIsATriggerAndNoDiagnosis) {
  EXPECT_FALSE(verdict_on({fact("gpu.utilization_pct", 99.0), fact("gpu.power_avg_w", 150.0),
                           fact("gpu.power_limit_w", 400.0), fact("gpu.power_idle_w", 60.0)})
                   .decided());
}

TEST(Diagnose, MissingFactsAreRankedExplainedAndNotKnownAlready) {
  const auto verdict = verdict_on({fact("comm.hangs", 1.0), fact("gpu.count", 2.0)});
  ASSERT_THAT(verdict.missing, Not(IsEmpty()));
  for (const auto& missing : verdict.missing) {
    EXPECT_NE(missing.fact, "comm.hangs");
    EXPECT_NE(missing.what, "");
    EXPECT_NE(missing.how, "");
    EXPECT_THAT(missing.decides, Not(IsEmpty()));
  }
  const std::set<std::string> of_the_path{"host.acs", "host.iommu", "comm.hangs_without_p2p", "host.iommu"};
  EXPECT_TRUE(of_the_path.contains(verdict.missing.front().fact)) << verdict.missing.front().fact;
}

TEST(Diagnose, HealthyVanishesBesideAFault) {
  Facts facts{fact("gpu.utilization_pct", 99.0),      fact("gpu.power_avg_w", 600.0),
              fact("gpu.power_limit_w", 700.0),       fact("gpu.power_idle_w", 70.0),
              fact("step.data_wait_share", 0.005),    fact("step.comm_exposed_share", 0.02),
              fact("gpu.held_power_brake_share", 0.0)};
  EXPECT_TRUE(is_healthy(verdict_on(facts).findings.front().info->cause));
  facts.push_back(fact("gpu.xid", 48.0, "GPU 3"));
  const auto verdict = verdict_on(facts);
  EXPECT_EQ(causes_of(verdict).front(), "hardware:memory-errors");
  for (const auto& cause : causes_of(verdict)) EXPECT_FALSE(is_healthy(cause)) << cause;
}

TEST(Diagnose, AMemoryBoundJobAtHalfThePowerIsHealthy) {
  const auto verdict = verdict_on({fact("gpu.utilization_pct", 99.0), fact("gpu.power_avg_w", 210.0),
                                   fact("gpu.power_limit_w", 400.0), fact("gpu.dram_active_pct", 82.0),
                                   fact("gpu.sm_active_pct", 70.0), fact("step.data_wait_share", 0.004)});
  ASSERT_TRUE(verdict.decided());
  EXPECT_EQ(verdict.findings.front().info->cause, "control:healthy-low-power");
  EXPECT_EQ(verdict.findings.front().verify, "");
}

TEST(Diagnose, ACapAtTheLimitOfABusyGpuIsNoFault) {
  const auto verdict = verdict_on({fact("gpu.utilization_pct", 99.0), fact("gpu.power_avg_w", 395.0),
                                   fact("gpu.power_limit_w", 400.0), fact("gpu.power_limit_default_w", 400.0),
                                   fact("gpu.held_power_cap_share", 0.8), fact("step.data_wait_share", 0.0)});
  EXPECT_EQ(confidence_in(verdict, "power:capped-below-limit"), 0);
  EXPECT_EQ(confidence_in(verdict, "power:limit-lowered"), 0);
}

TEST(Diagnose, ACardThatDiffersExplainsARankThatIsLate) {
  const auto verdict =
      verdict_on({fact("gpu.name", "A100", "GPU 0"), fact("gpu.name", "V100", "GPU 1"), fact("gpu.count", 2.0),
                  fact("rank.skew_share", 0.6), fact("rank.culprit", 1.0), fact("rank.culprit_stays", 1.0)});
  EXPECT_EQ(causes_of(verdict).front(), "hardware:mixed");
}

TEST(Diagnose, FindingsComeBestFirst) {
  auto facts = kNoWorkers;
  facts.push_back(fact("env.value", "1", "NCCL_P2P_DISABLE"));
  facts.push_back(fact("gpu.count", 4.0));
  const auto verdict = verdict_on(facts);
  ASSERT_GE(verdict.findings.size(), 2);
  EXPECT_TRUE(std::ranges::is_sorted(verdict.findings, std::greater<>(), &Finding::confidence));
}

TEST(Diagnose, FactsOfAnotherTongueDoNoHarm) {
  EXPECT_FALSE(verdict_on({fact("no.such.fact", 1.0), fact("step.time_s", "soon"), fact("gpu.count", "a few"),
                           fact("gpu.power_limit_w", 0.0)})
                   .decided());
}

TEST(CauseTable, EachRowHasAUniqueNameOfAKnownFamily) {
  const std::set<std::string_view> families{"data",   "host",      "sync",     "interconnect", "network",
                                            "config", "software",  "hardware", "power",        "thermal",
                                            "io",     "imbalance", "control",  "compute",      "sharing"};
  std::set<std::string_view> names;
  for (const auto& row : cause_table()) {
    EXPECT_TRUE(names.insert(row.cause).second) << row.cause;
    EXPECT_TRUE(families.contains(family_of(row.cause))) << row.cause;
    EXPECT_TRUE(std::regex_match(std::string(row.cause), std::regex("[a-z]+:[a-z0-9]+(-[a-z0-9]+)*"))) << row.cause;
    EXPECT_EQ(find_cause(row.cause), &row);
  }
  EXPECT_EQ(find_cause("data:no-such-cause"), nullptr);
}

TEST(CauseTable, EachFaultHasARemedyAnOwnerAndAMetricThatMustMove) {
  const std::set<std::string_view> owners{"user", "root", "operator"};
  for (const auto& row : cause_table()) {
    EXPECT_NE(row.title, "") << row.cause;
    EXPECT_NE(row.change, "") << row.cause;
    EXPECT_TRUE(owners.contains(row.owner)) << row.cause;
    EXPECT_LT(row.prior, 0) << row.cause << ": nothing is likely before it is seen";
    if (is_healthy(row.cause)) continue;
    EXPECT_NE(record::find_fact(row.metric), nullptr) << row.cause << ": " << row.metric;
  }
}

TEST(CauseTable, EachFactThatIsAskedForIsInTheFactTableAndCanBeSupplied) {
  for (const auto& row : cause_table()) {
    Opinion opinion;
    row.judge(FactSheet(), opinion);
    EXPECT_THAT(opinion.evidence(), Each(Field(&Evidence::weight, testing::Le(0)))) << row.cause << ": on no facts";
    for (const auto& want : opinion.wanted()) {
      EXPECT_NE(record::find_fact(want.fact), nullptr) << row.cause << ": " << want.fact;
      EXPECT_GT(want.weight, 0) << row.cause;
    }
  }
  for (const auto& row : record::fact_table()) EXPECT_NE(how_to_supply(row.name), "") << row.name;
}

/// All that a row says to a user.
std::string words_of(const CauseInfo& row) {
  return std::string(row.change) + " | " + std::string(row.precondition) + " | " + std::string(row.rollback);
}

TEST(Advice, NeverNamesASettingThatIsKnownToHarm) {
  // Why each of them harms stands in docs: forced Tree kills other collectives, IB_DISABLE forbids RoCE too, socket
  // counts and 4 MiB buffers are fixed by nothing, a short time-out kills healthy jobs, TensorFlow 1 is gone.
  const std::array never{"NCCL_ALGO",
                         "NCCL_PROTO",
                         "NCCL_IB_DISABLE",
                         "NCCL_SOCKET_NTHREADS",
                         "NSOCKS_PERTHREAD",
                         "NCCL_BUFFSIZE",
                         "ConfigProto",
                         "tf\\.compat\\.v1",
                         "TF_ENABLE_GPU_GARBAGE",
                         "torch\\.cuda\\.amp",
                         "nvidia-smi -pl [0-9]",
                         "-pm 1",
                         "timeout ?=",
                         "[Ff]an speed",
                         "pin_memory\\(\\)\\.to"};
  for (const auto& row : cause_table())
    for (const auto* word : never)
      EXPECT_FALSE(std::regex_search(words_of(row), std::regex(word))) << row.cause << " says " << word;
}

TEST(Advice, AChangedBatchComesWithANoteOnConvergence) {
  const std::regex changes("(larger|smaller|other|double) (local |global )?batch(?! norm)");
  const std::regex note("learning rate|accuracy|loss");
  for (const auto& row : cause_table())
    if (std::regex_search(std::string(row.change), changes)) {
      EXPECT_TRUE(std::regex_search(std::string(row.precondition), note)) << row.cause;
    }
}

TEST(Advice, NumericSettingsThatMustBeIntegersAreIntegers) {
  for (const auto& row : cause_table())
    EXPECT_FALSE(std::regex_search(words_of(row), std::regex("NCCL_[A-Z_]+=[0-9]*\\.[0-9]"))) << row.cause;
}

TEST(Advice, NeverRaisesAPowerLimitAboveTheDefault) {
  const auto& row = *find_cause("power:limit-lowered");
  EXPECT_THAT(std::string(row.change), testing::HasSubstr("default"));
  EXPECT_EQ(row.owner, "operator");
}

TEST(Advice, WorkersFitTheNeedAndTheCpusOfAllRanks) {
  const auto change_for = [](double workers, double ranks, double cpus, double wait) {
    const auto verdict =
        verdict_on({fact("loader.workers", workers), fact("job.world_size", ranks), fact("host.cpus", cpus),
                    fact("step.data_wait_share", wait), fact("loader.workers_running_share", 0.95)});
    return verdict.findings.empty() ? std::string() : verdict.findings.front().advice.change;
  };
  EXPECT_THAT(change_for(2, 1, 32, 0.5), testing::HasSubstr("num_workers=5 a rank"));
  EXPECT_THAT(change_for(2, 8, 32, 0.5), testing::HasSubstr("num_workers=3 a rank"));
  EXPECT_THAT(change_for(2, 8, 32, 0.5), testing::HasSubstr("32 CPUs for 8 ranks"));
  EXPECT_THAT(change_for(2, 8, 24, 0.5), testing::HasSubstr("no CPU for more workers"));
}

TEST(Advice, ACeilingIsAShareOfTheStep) {
  for (const auto& row : cause_table()) {
    if (row.ceiling == nullptr) continue;
    EXPECT_EQ(row.ceiling(FactSheet()), std::nullopt) << row.cause << ": nothing known, nothing promised";
  }
}

}  // namespace
}  // namespace gradwatt::diagnosis
