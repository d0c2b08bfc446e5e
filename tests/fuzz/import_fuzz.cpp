// Entry point for fuzzing everything that `gradwatt import` reads: any bytes must give a sound run or a refusal in
// words.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "gradwatt/ingest/import.hpp"
#include "tests/fuzz/promise.hpp"

namespace {

using namespace gradwatt;
using fuzz::require;

bool is_plausible(const record::Metric& metric, double value) {
  if (metric.unit == "c") return value > -300 && value < 300;
  return value >= 0 && value < 1e19;
}

void check_column(const record::DeviceSeries& series, const record::Column& column) {
  require(column.values.size() == series.size(), "a column is as long as its time axis");
  require(column.raw.empty() || column.raw.size() == series.size(), "raw values are as many as rows");
  const auto& metric = record::info(column.metric);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < column.values.size(); ++i) {
    if (!column.has(i)) continue;
    require(is_plausible(metric, column.at(i).value()), "no negative or absurd value is a reading");
    if (metric.type != record::MetricType::counter) continue;
    require(column.values[i] >= last, "a counter's total never falls");
    last = column.values[i];
  }
}

void check_fact(const record::Fact& fact) {
  const auto* info = record::find_fact(fact.name);
  require(info != nullptr, "a fact is in the table");
  require(!fact.subject.empty(), "a fact has a subject");
  require(fact.where == record::Where::imported, "a fact says that it was imported");
  const auto number = record::as_number(fact);
  require(!number || std::isfinite(*number), "a fact is a finite number");
}

void check(const ingest::Imported& imported) {
  const auto& run = imported.run;
  require(imported.rows > 0, "an imported file has rows");
  require(!run.series.empty() || !run.marks.empty() || !run.facts.empty() || !imported.diagnostics.empty(),
          "an imported file gives something");
  require(run.where() == record::Where::imported, "it says that it was imported");
  for (const auto& series : run.series) {
    require(record::number(series.device) < run.devices.size(), "a series belongs to a device");
    for (std::size_t i = 1; i < series.size(); ++i)
      require(series.time_ns[i - 1] < series.time_ns[i], "times increase");
    for (const auto& column : series.columns) {
      check_column(series, column);
      require(run.find_quality(series.device, column.metric) != nullptr, "every series has its quality");
    }
  }
  for (const auto& fact : run.facts) check_fact(fact);
  for (const auto& mark : run.marks) require(mark.begin_ns <= mark.end_ns, "a mark does not end before it begins");
  for (const auto& event : run.events) require(!event.device || *event.device < run.devices.size(), "events fit");
  for (const auto& diagnostic : imported.diagnostics) require(!diagnostic.message.empty(), "diagnostics speak");
}

/// A control character in front, which no text begins with, picks what the user said beside the file.
bool is_choice(std::uint8_t byte) { return byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r'; }
constexpr std::uint8_t kNameSaysPower = 16;

ingest::ImportOptions options_of(std::uint8_t choice) {
  ingest::ImportOptions options;
  if ((choice & 1U) != 0) options.interval = std::chrono::seconds(1);
  if ((choice & 2U) != 0) options.columns = {"timestamp", "index", "power.draw", "utilization.gpu"};
  if ((choice & 4U) != 0) options.units = {{"power.draw", "mW"}};
  if ((choice & 8U) != 0) options.utc_offset = std::chrono::minutes(-90);
  return options;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const bool chosen = size > 0 && is_choice(data[0]);
  const auto choice = chosen ? data[0] : kNameSaysPower;
  const std::string text(reinterpret_cast<const char*>(data) + (chosen ? 1 : 0), size - (chosen ? 1 : 0));
  const auto* name = (choice & kNameSaysPower) != 0 ? "power.csv" : "log.txt";
  const auto imported = ingest::import_text(name, text, options_of(choice));
  if (imported) {
    check(*imported);
  } else {
    require(imported.error().code == core::Errc::unusable_input, "a refusal says unusable input");
    require(imported.error().message.find("line ") != std::string::npos, "a refusal names the line");
  }
  return 0;
}
