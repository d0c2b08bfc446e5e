#include "gradwatt/report/text.hpp"

#include <gmock/gmock.h>

#include "gradwatt/core/text.hpp"
#include "gradwatt/report/example_runs.hpp"
#include "gradwatt/report/golden.hpp"

namespace gradwatt::report {
namespace {

using testing::expect_same_as_file;
using ::testing::HasSubstr;
using ::testing::Not;

TextOptions with_everything() {
  TextOptions options;
  options.factors = {1.2, 0.22, "EUR", 250};
  options.trigger = TriggerLine{"GPUs are busy 99 % of the time at 38 % of their power limit.", "gradwatt diagnose"};
  options.record_place = "~/.local/share/gradwatt/runs/20261130-030512-a3f1";
  options.next_commands = {"gradwatt report --json", "gradwatt runs list"};
  return options;
}

void expect_one_screen(const std::string& text, std::size_t lines) {
  const auto all = core::split(text, '\n');
  EXPECT_LE(all.size(), lines + 1);
  for (const auto line : all) EXPECT_LE(columns(line), 80U) << line;
}

TEST(TextReport, SaysOnOneScreenWhatEightGpusDid) {
  const auto e = testing::eight_gpus();
  const auto text = to_text(e.run, e.summary, with_everything());
  expect_one_screen(text, 33);
  expect_same_as_file(text, "tests/golden/report_eight_gpus.txt");
}

TEST(TextReport, OfAnOrdinaryRunFitsASmallTerminal) {
  auto e = testing::eight_gpus();
  e.summary.prediction.reset();
  e.summary.consequences = {};
  e.summary.marks.clear();
  e.summary.profiles.clear();
  expect_one_screen(to_text(e.run, e.summary, with_everything()), 27);
}

TEST(TextReport, NamesWhatASmallHostCannotMeasure) {
  const auto e = testing::small_host();
  const auto text = to_text(e.run, e.summary);
  expect_one_screen(text, 24);
  expect_same_as_file(text, "tests/golden/report_small_host.txt");
}

TEST(TextReport, SaysWhatTheTrainingReachedLast) {
  auto e = testing::eight_gpus();
  for (const auto& [name, value] :
       {std::pair{"result.accuracy_pct", 81.0}, {"result.loss", 0.5}, {"result.accuracy_pct", 92.5}})
    e.run.facts.push_back({.name = name, .subject = "job", .value = value});
  const auto text = to_text(e.run, e.summary, with_everything());
  EXPECT_THAT(text, HasSubstr("accuracy 92.5 % · loss 0.5"));
  EXPECT_THAT(text, Not(HasSubstr("81")));
}

TEST(TextReport, OfFactsAloneSaysThatNothingHasATime) {
  record::Run run;
  run.set(record::meta::kWhere, std::string("imported"));
  run.set(record::meta::kComplete, std::string("1"));
  run.facts.push_back({.name = "gpu.count", .subject = "job", .value = 8.0});
  const auto text = to_text(run, energy::summarize(run));
  EXPECT_THAT(text, HasSubstr("no times · imported"));
  EXPECT_THAT(text, HasSubstr("It holds 1 facts and no times"));
}

TEST(TextReport, SaysThatAnImportIsOneAndWhichGpuHasNoFigure) {
  const auto e = testing::imported();
  const auto text = to_text(e.run, e.summary);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  expect_same_as_file(text, "tests/golden/report_imported.txt");
}

TEST(TextReport, SummarisesManyGpusAndSaysThatTheRecordEndsEarly) {
  const auto e = testing::cut_short();
  const auto text = to_text(e.run, e.summary);
  expect_one_screen(text, 24);
  expect_same_as_file(text, "tests/golden/report_cut_short.txt");
}

TEST(TextReport, ARunOfWhichNothingIsKnownStillReads) {
  const auto text = to_text(record::Run{}, energy::Summary{});
  EXPECT_THAT(text, HasSubstr("The record ends early"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(TextReport, ColoursAddNothingButColour) {
  const auto e = testing::eight_gpus();
  auto options = with_everything();
  const auto plain = to_text(e.run, e.summary, options);
  options.screen.color = true;
  auto colored = to_text(e.run, e.summary, options);
  EXPECT_NE(plain, colored);
  for (auto at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b'))
    colored.erase(at, colored.find('m', at) - at + 1);
  EXPECT_EQ(plain, colored);
}

TEST(TextReport, StaysReadableWithoutUtf8) {
  const auto e = testing::eight_gpus();
  auto options = with_everything();
  options.screen.utf8 = false;
  const auto text = to_text(e.run, e.summary, options);
  for (const char c : text) ASSERT_LT(static_cast<unsigned char>(c), 0x80);
  EXPECT_THAT(text, HasSubstr("8 x NVIDIA H100"));
  EXPECT_THAT(text, HasSubstr("+/-5.0 %"));
}

}  // namespace
}  // namespace gradwatt::report
