#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "gradwatt/report/comparison_text.hpp"
#include "gradwatt/report/findings_json.hpp"
#include "gradwatt/report/findings_text.hpp"

namespace gradwatt::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

diagnosis::FactSheet waiting_for_input() {
  return diagnosis::FactSheet({{.name = "step.data_wait_share", .subject = "job", .value = 0.6},
                               {.name = "loader.workers", .subject = "process", .value = 0.0}});
}

TEST(FindingsText, SaysCauseEvidenceChangeGainProofAndWayBack) {
  const auto text = findings_to_text(diagnosis::diagnose(waiting_for_input()), {});
  for (const auto* part :
       {"1. The data loader has no worker processes", "data:loader-synchronous, confidence", "because",
        "wait for their batch 60 %", "change", "(you)", "at most 60 %", "prove it", "gradwatt compare", "take back"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(FindingsText, WithoutAVerdictSaysWhatWouldDecide) {
  const auto text = findings_to_text(diagnosis::diagnose(diagnosis::FactSheet()), {});
  EXPECT_THAT(text, HasSubstr("Not enough data for a verdict."));
  EXPECT_THAT(text, HasSubstr("What would decide"));
}

TEST(FindingsText, NoLineIsWiderThanTheTerminal) {
  const auto text = findings_to_text(diagnosis::diagnose(waiting_for_input()), {.screen = {.width = 60}});
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    // A setting is one word and stays whole, so that it can be copied.
    const auto line = text.substr(begin, end - begin);
    if (line.find("tf.data") == std::string::npos) EXPECT_LE(columns(line), 60) << line;
    begin = end + 1;
  }
}

TEST(FindingsText, ForeignTextCannotSteerATerminal) {
  const diagnosis::FactSheet facts({{.name = "gpu.xid", .subject = "GPU \x1b[31m", .value = 79.0},
                                    {.name = "gpu.lost", .subject = "job", .value = 1.0}});
  EXPECT_THAT(findings_to_text(diagnosis::diagnose(facts), {}), Not(HasSubstr("\x1b")));
}

TEST(FindingsText, ASlowRankIsNamedWithItsOwnCause) {
  const diagnosis::FactSheet facts({{.name = "job.world_size", .subject = "job", .value = 2.0},
                                    {.name = "rank.skew_share", .subject = "job", .value = 1.5},
                                    {.name = "rank.culprit", .subject = "job", .value = 1.0},
                                    {.name = "rank.culprit_stays", .subject = "job", .value = 1.0},
                                    {.name = "step.data_wait_share", .subject = "rank 0", .value = 0.0},
                                    {.name = "step.data_wait_share", .subject = "rank 1", .value = 0.6},
                                    {.name = "loader.workers", .subject = "rank 1", .value = 0.0}});
  const auto verdict = diagnosis::diagnose(facts);
  ASSERT_FALSE(verdict.findings.empty());
  EXPECT_EQ(verdict.findings.front().info->cause, "imbalance:straggler-rank");
  EXPECT_THAT(findings_to_text(verdict, {}), HasSubstr("rank 1: the data loader has no worker processes"));
  const auto json = nlohmann::json::parse(findings_to_json(verdict, facts, {}, "", ""));
  EXPECT_EQ(json["findings"][0]["culprit"]["cause"], "data:loader-synchronous");
}

TEST(FindingsJson, IsOneObjectWithItsSchemaAndTheFactsBesideTheVerdict) {
  const auto facts = waiting_for_input();
  const auto json = nlohmann::json::parse(
      findings_to_json(diagnosis::diagnose(facts), facts, diagnosis::lint(facts), "run-1", "steps 3 to 100 of 100"));
  EXPECT_EQ(json["schema"], "gradwatt.diagnosis/1");
  EXPECT_EQ(json["facts"].size(), 2);
  EXPECT_TRUE(json["lint"].is_array());
  for (const auto* key : {"cause", "confidence", "evidence", "remedy", "verify", "owner", "ceiling"})
    EXPECT_TRUE(json["findings"][0].contains(key)) << key;
}

energy::Comparison twice_as_fast() {
  energy::RunFigures a, b;
  for (int i = 0; i < 60; ++i) {
    a.step_s.push_back(0.2 + 0.001 * (i % 7));
    b.step_s.push_back(0.1 + 0.001 * (i % 5));
  }
  return energy::compare(std::span(&a, 1), std::span(&b, 1));
}

TEST(ComparisonText, SaysWhatTheIntervalContainsAndWhatItDoesNot) {
  const auto text = comparison_to_text(twice_as_fast(), {"before", "after", "", ""}, {});
  for (const auto* part : {"before", "after", "steps a second", "95 % interval over steps",
                           "likely: the second side is faster", "one run each"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(ComparisonJson, MissingIsNull) {
  const auto json = nlohmann::json::parse(comparison_to_json(twice_as_fast(), {"before", "after", "", ""}));
  EXPECT_EQ(json["schema"], "gradwatt.comparison/1");
  for (const auto& metric : json["metrics"])
    if (metric["name"] == "power_avg_w") EXPECT_TRUE(metric["a"].is_null() && metric["change"].is_null());
}

}  // namespace
}  // namespace gradwatt::report
