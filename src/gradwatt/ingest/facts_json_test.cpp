#include "gradwatt/ingest/facts_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gradwatt/ingest/import.hpp"

namespace gradwatt::ingest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string file_of(const std::string& facts) { return R"({"schema": "gradwatt.facts/1", "facts": [)" + facts + "]}"; }

record::Fact only(const std::string& fact) {
  const auto facts = read_facts(file_of(fact), "known.json");
  EXPECT_TRUE(facts) << facts.error().message;
  return facts && facts->size() == 1 ? facts->front() : record::Fact{};
}
std::string refusal(const std::string& text) {
  const auto facts = read_facts(text, "known.json");
  EXPECT_FALSE(facts);
  return facts ? "" : facts.error().message;
}
std::string refusal_of(const std::string& fact) { return refusal(file_of(fact)); }

TEST(FactsFile, KeepsNameSubjectValueUnitAndPlace) {
  const auto facts = read_facts(R"({
  "schema": "gradwatt.facts/1",
  "facts": [
    {"name": "gpu.power_avg_w", "subject": "GPU 3", "value": 151.5, "unit": "W"},
    {"name": "comm.transport", "subject": "job", "value": "net-socket", "unit": "", "coverage": 0.5, "how": "modelled"}
  ]
})",
                                "known.json");
  ASSERT_TRUE(facts) << facts.error().message;
  ASSERT_EQ(facts->size(), 2U);
  const auto& power = facts->at(0);
  EXPECT_EQ(power.name, "gpu.power_avg_w");
  EXPECT_EQ(power.subject, "GPU 3");
  EXPECT_EQ(as_number(power), 151.5);
  EXPECT_EQ(power.unit, "W");
  EXPECT_EQ(power.where, record::Where::imported);
  EXPECT_EQ(power.source, "known.json:4");
  const auto& transport = facts->at(1);
  EXPECT_EQ(as_text(transport), "net-socket");
  EXPECT_EQ(transport.coverage, 0.5);
  EXPECT_EQ(transport.how, record::How::modelled);
  EXPECT_EQ(transport.source, "known.json:5");
}

TEST(FactsFile, ConvertsUnitsOfTheSameKind) {
  EXPECT_EQ(as_number(only(R"({"name": "gpu.power_avg_w", "value": 0.4, "unit": "kW"})")), 400);
  EXPECT_EQ(as_number(only(R"({"name": "step.time_s", "value": 250, "unit": "ms"})")), 0.25);
  EXPECT_EQ(as_number(only(R"({"name": "comm.link_bits_per_s", "subject": "a-b", "value": 100, "unit": "Gb/s"})")),
            1e11);
  EXPECT_EQ(as_number(only(R"({"name": "host.shm_bytes", "value": 64, "unit": "MiB"})")), 67108864);
  EXPECT_EQ(as_number(only(R"({"name": "step.data_wait_share", "value": 40, "unit": "%"})")), 0.4);
  EXPECT_EQ(only(R"({"name": "step.time_s", "value": 250, "unit": "ms"})").unit, "s");
}

TEST(FactsFile, TakesWhatIsLeftOutFromTheTable) {
  EXPECT_EQ(only(R"({"name": "gpu.power_avg_w", "value": 150})").subject, "job");
  EXPECT_EQ(only(R"({"name": "gpu.power_avg_w", "value": 150})").unit, "W");
  EXPECT_EQ(only(R"({"name": "host.cpus", "value": 64, "unit": null})").subject, "host");
  EXPECT_THAT(refusal_of(R"({"name": "env.value", "value": "1"})"), HasSubstr(R"(needs a "subject": which variable)"));
}

TEST(FactsFile, TakesYesAndNoAsOneAndZeroAndWholeNumbersAsText) {
  EXPECT_EQ(as_number(only(R"({"name": "loader.pin_memory", "subject": "rank 0", "value": true})")), 1);
  EXPECT_EQ(as_text(only(R"({"name": "env.value", "subject": "NCCL_P2P_DISABLE", "value": 1})")), "1");
}

TEST(FactsFile, LeavesTheWritersNotesAlone) {
  EXPECT_EQ(as_number(only(R"({"name": "gpu.count", "value": 8, "remark": ["seen", {"by": "me"}]})")), 8);
}

TEST(FactsFile, NamesTheFactAndTheNearestKnownName) {
  const auto text =
      "{\"schema\": \"gradwatt.facts/1\",\n \"facts\": [\n  {\"name\": \"gpu.count\", \"value\": 8},\n"
      "  {\"name\": \"gpu.power_avgw\", \"value\": 150}\n]}";
  EXPECT_THAT(refusal(text),
              AllOf(StartsWith("line 4: fact 2 has the unknown name 'gpu.power_avgw'"), HasSubstr("gpu.power_avg_w?")));
}

TEST(FactsFile, RefusesUnitsOfAnotherKind) {
  EXPECT_THAT(refusal_of(R"({"name": "gpu.power_avg_w", "value": 150, "unit": "J"})"),
              HasSubstr("fact 1 (gpu.power_avg_w) has the unit 'J', but must be W, mW, kW"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "value": 8, "unit": "%"})"), HasSubstr("is a pure number"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.name", "value": "H100", "unit": "W"})"), HasSubstr("is text"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.temperature_c", "value": 80, "unit": "F"})"), HasSubstr("°C"));
}

TEST(FactsFile, RefusesValuesOfAnotherKind) {
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "value": "eight"})"),
              HasSubstr(R"('"eight"', but must be a number)"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.name", "value": {"a": 1}})"), HasSubstr("must be text in quotes"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "value": null})"), HasSubstr(R"(has no "value")"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "value": 1e999})"), HasSubstr("no valid JSON"));
  EXPECT_THAT(refusal_of(R"({"name": "host.shm_bytes", "value": 1e307, "unit": "GiB"})"), HasSubstr("too large"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.idle_share", "value": 35})"), HasSubstr("say 0.35"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "value": 8, "how": "guessed"})"), HasSubstr("none of counter"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "value": 8, "coverage": 80})"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "value": 8, "time_ns": 18446744073709551615})"),
              HasSubstr("time_ns"));
}

TEST(FactsFile, RefusesKeysThatLookLikeMisspeltOnes) {
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "vlaue": 8})"), HasSubstr(R"('vlaue'; did you mean "value"?)"));
}

TEST(FactsFile, RefusesTheSameFactTwiceButForThoseThatHappenOften) {
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "value": 8}, {"name": "gpu.count", "subject": "job", "value": 4})"),
              HasSubstr("fact 2 (gpu.count of 'job') was said before, as fact 1"));
  const auto twice = R"({"name": "gpu.xid", "subject": "GPU 0", "value": 79},
                        {"name": "gpu.xid", "subject": "GPU 0", "value": 31})";
  EXPECT_TRUE(read_facts(file_of(twice), "known.json"));
}

TEST(FactsFile, RefusesWhatIsNoFactsFile) {
  EXPECT_THAT(refusal(""), StartsWith("line 1: no valid JSON"));
  EXPECT_THAT(refusal("[]"), StartsWith("line 1: it is no JSON object"));
  EXPECT_THAT(refusal("{}"), HasSubstr(R"(it has no "schema")"));
  EXPECT_THAT(refusal(R"({"schema": "gradwatt.facts/2", "facts": []})"), HasSubstr("reads gradwatt.facts/1"));
  EXPECT_THAT(refusal(R"({"schema": "gradwatt.facts/1", "facts": {}})"), HasSubstr(R"(no list "facts")"));
  EXPECT_THAT(refusal(file_of("")), HasSubstr("is empty"));
  EXPECT_THAT(refusal_of("8"), HasSubstr("fact 1 is no object"));
  EXPECT_THAT(refusal_of(R"({"value": 8})"), HasSubstr(R"(fact 1 has no "name")"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "value": 8)"), HasSubstr("no valid JSON"));
  EXPECT_THAT(refusal_of(R"({"name": "gpu.count", "value": 8, "value": 4})"), HasSubstr("'value' stands twice"));
  EXPECT_THAT(refusal("\xFF\xFE{"), HasSubstr("UTF-16"));
}

TEST(FactsFile, RefusesHostileDepthAndSizeAtOnce) {
  EXPECT_THAT(refusal(file_of(std::string(1000000, '['))), HasSubstr("nested deeper than 16"));
  EXPECT_THAT(refusal(file_of(R"({"note": )" + std::string(100000, '[') + "}")), HasSubstr("nested deeper than 16"));
  EXPECT_THAT(refusal(std::string(kMaxFactsBytes + 1, ' ')), HasSubstr("at most 4 MiB"));
}

TEST(FactsFile, MakesForeignTextSafeToPrint) {
  EXPECT_EQ(as_text(only(R"({"name": "gpu.name", "value": "H100\u001b[31m\u0000!"})")), "H100 [31m !");
}

TEST(FactsFile, IsARunOfFactsAloneWhenImported) {
  const auto imported = import_text("known.json", file_of(R"({"name": "gpu.count", "value": 8})"));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->run.facts.size(), 1U);
  EXPECT_EQ(imported->rows, 1U);
  EXPECT_FALSE(imported->run.extent());
  EXPECT_EQ(imported->run.where(), record::Where::imported);
}

TEST(FactsFile, JoinsARecordingAndItsClock) {
  std::vector<std::string> texts{file_of(R"({"name": "gpu.count", "value": 8})"),
                                 "timestamp,index,power_w\n1675166400,0,100\n1675166401,0,101\n"};
  // Whichever comes first, the run knows the facts and the zone of the times.
  for (const bool facts_first : {true, false}) {
    SCOPED_TRACE(facts_first);
    std::vector<std::filesystem::path> files;
    const auto folder = std::filesystem::path(::testing::TempDir());
    for (const std::size_t i : {facts_first ? 0U : 1U, facts_first ? 1U : 0U}) {
      files.push_back(folder / ("gradwatt-facts-" + std::to_string(i)));
      std::ofstream(files.back()) << texts[i];
    }
    const auto imported = import_files(files);
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(imported->run.facts.size(), 1U);
    EXPECT_EQ(imported->run.series.size(), 1U);
    EXPECT_EQ(imported->run.text(record::meta::kZoneKnown), "1");
    EXPECT_THAT(imported->diagnostics, ElementsAre());
    for (const auto& file : files) std::filesystem::remove(file);
  }
}

}  // namespace
}  // namespace gradwatt::ingest
