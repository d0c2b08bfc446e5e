#include "gradwatt/report/json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "gradwatt/report/example_runs.hpp"

namespace gradwatt::report {
namespace {

using nlohmann::json;

TEST(JsonReport, OfFactsAloneHasNoDuration) {
  record::Run run;
  run.facts.push_back({.name = "gpu.count", .subject = "job", .value = 8.0});
  EXPECT_TRUE(json::parse(to_json(run, energy::summarize(run)))["duration_s"].is_null());
}

TEST(JsonReport, HasTheKeysThatScriptsRelyOn) {
  const auto e = testing::eight_gpus();
  const auto report = json::parse(to_json(e.run, e.summary));
  EXPECT_EQ(report["schema"], "gradwatt.report/1");
  EXPECT_EQ(report["run_id"], "20261130-030512-a3f1");
  EXPECT_EQ(report["complete"], true);
  EXPECT_EQ(report["exit_status"], 0);
  EXPECT_EQ(report["duration_s"], 11220);
  const auto& energy = report["energy"];
  EXPECT_DOUBLE_EQ(energy["energy_j"].get<double>(), *e.summary.energy.energy_j);
  EXPECT_EQ(energy["how"], "modelled");
  EXPECT_EQ(energy["where"], "live");
  EXPECT_EQ(energy["coverage"], 1);
  EXPECT_TRUE(energy["estimated_j"].is_null());
  ASSERT_EQ(energy["components"].size(), 3U);
  const auto& gpu = energy["components"][0];
  EXPECT_EQ(gpu["component"], "gpu");
  EXPECT_EQ(gpu["how"], "counter");
  for (const auto* key : {"energy_j", "power_avg_w", "share", "coverage"}) EXPECT_TRUE(gpu[key].is_number()) << key;
  EXPECT_EQ(gpu["devices"].size(), 8U);
  EXPECT_EQ(report["steps"]["count"], 71905);
  EXPECT_EQ(report["steps"]["phase_share"]["data_wait"], 0.38);
  EXPECT_TRUE(report["steps"]["phase_share"]["checkpoint"].is_null());
  EXPECT_EQ(report["prediction"]["how"], "estimated");
}

TEST(JsonReport, WhatIsMissingIsNullAndHasNoOrigin) {
  const auto e = testing::cut_short();
  const auto report = json::parse(to_json(e.run, e.summary));
  EXPECT_EQ(report["complete"], false);
  EXPECT_TRUE(report["exit_status"].is_null());
  EXPECT_TRUE(report["steps"].is_null());
  EXPECT_TRUE(report["trigger"].is_null());
  const auto& cpu = report["energy"]["components"][1];
  for (const auto* key : {"energy_j", "power_avg_w", "share", "how", "where", "coverage"})
    EXPECT_TRUE(cpu.contains(key) && cpu[key].is_null()) << key;
  EXPECT_EQ(cpu["why_not"], "reading the counters needs a right that is missing");
}

TEST(JsonReport, HoldsNoNumberThatJsonDoesNotKnow) {
  auto e = testing::eight_gpus();
  e.summary.energy.energy_j = std::numeric_limits<double>::infinity();
  e.summary.duration_s = std::numeric_limits<double>::quiet_NaN();
  const auto report = json::parse(to_json(e.run, e.summary));
  EXPECT_TRUE(report["energy"]["energy_j"].is_null());
  EXPECT_TRUE(report["duration_s"].is_null());
}

TEST(JsonReport, SurvivesACommandThatIsNotUtf8) {
  auto e = testing::eight_gpus();
  e.run.set(record::meta::kCommand, "python \xff\xfe.py");
  EXPECT_FALSE(json::parse(to_json(e.run, e.summary), nullptr, false).is_discarded());
}

TEST(JsonReport, TellsTheUsersFactorsAndTheTrigger) {
  const auto e = testing::eight_gpus();
  JsonOptions options;
  options.factors = {1.2, 0.22, "EUR", std::nullopt};
  options.trigger = TriggerLine{"busy 99 %, power 38 % of limit", "gradwatt diagnose"};
  const auto report = json::parse(to_json(e.run, e.summary, options));
  EXPECT_EQ(report["consequences"]["pue"], 1.2);
  EXPECT_EQ(report["consequences"]["currency"], "EUR");
  EXPECT_TRUE(report["consequences"]["co2_g_per_kwh"].is_null());
  EXPECT_EQ(report["trigger"]["next_command"], "gradwatt diagnose");
}

}  // namespace
}  // namespace gradwatt::report
