#include "gradwatt/ingest/mllog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gradwatt/ingest/median.hpp"
#include "gradwatt/ingest/text_scan.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::size_t kMost = 1'000'000;
constexpr auto kNodePower = record::metric(record::DeviceKind::node, "power");
/// Years 2000 to 2100, in ms.
constexpr std::int64_t kEarliest = 946'684'800'000, kLatest = 4'102'444'800'000;

struct MlLine {
  std::int64_t time_ns = 0;
  std::string_view key, value;  ///< value: from its first character to the end of the line
};

/// The lines are written by one library, key by key in one order, so they are read without a JSON parser.
std::optional<MlLine> parse(std::string_view text) {
  TextScan scan(text);
  if (!scan.skip_past(":::MLLOG ") || !scan.skip_past("\"time_ms\":")) return std::nullopt;
  const auto time = scan.integer();
  if (!time || *time < kEarliest || *time > kLatest) return std::nullopt;
  MlLine line{*time * 1'000'000, {}, {}};
  if (!scan.skip_past("\"key\":") || !scan.eat("\"")) return std::nullopt;
  line.key = scan.word("\"");
  if (!scan.eat("\"") || !scan.skip_past("\"value\":")) return std::nullopt;
  line.value = scan.spaces().rest();
  return line;
}

class MlLog final : public LineWitness {
 public:
  [[nodiscard]] std::string_view name() const override { return "MLPerf log"; }

  bool take(const Line& line) override {
    const auto said = parse(line.text);
    if (!said) return false;
    line_ = line.number;
    take_said(*said);
    return true;
  }

  void finish(Testimony& to) override;

 private:
  struct Figure {
    double value = 0;
    std::size_t line = 0;
  };
  struct Reading {
    std::int64_t time_ns = 0, milliwatt = 0;
  };

  void take_said(const MlLine& said) {
    begun_ = begun_ || said.key == "init_start" || said.key == "run_start";
    const auto number = TextScan(said.value).number();
    const auto set = [&](std::optional<Figure>& figure) {
      if (!figure && number && *number > 0 && *number < 1e12) figure = Figure{*number, line_};
    };
    if (said.key == "global_batch_size")
      set(batch_);
    else if (said.key == "gradient_accumulation_steps")
      set(accumulation_);
    else if (said.key == "run_start" && !begin_)
      begin_ = said.time_ns;
    else if (said.key == "run_stop")
      end_ = said.time_ns;
    else if (said.key == "tracked_stats" || said.key == "throughput")
      take_throughput(said, number);
    else if (said.key == "epoch_start" || said.key == "block_start")
      open_ = said.time_ns;
    else if (said.key == "epoch_stop" || said.key == "block_stop")
      close(open_, said.time_ns, record::MarkKind::epoch, "");
    else if (said.key == "eval_start")
      evaluation_ = said.time_ns;
    else if (said.key == "eval_stop")
      close(evaluation_, said.time_ns, record::MarkKind::region, "evaluation");
    else if (said.key == "power_reading")
      take_power(said, number);
  }

  void take_throughput(const MlLine& said, std::optional<double> number) {
    const auto rate = number ? number : number_after(said.value, "\"throughput\":");
    if (rate && *rate > 0 && *rate < 1e15 && rates_.size() < kMost) rates_.push_back(*rate), rates_line_ = line_;
  }

  void take_power(const MlLine& said, std::optional<double> number) {
    // A node draws between nothing and a megawatt; readings come in order of time.
    if (!number || *number < 0 || *number > 1e6 || power_.size() >= kMost) return;
    if (!power_.empty() && said.time_ns <= power_.back().time_ns) return;
    power_.push_back({said.time_ns, std::llround(*number * 1000)});
  }

  void close(std::optional<std::int64_t>& begin, std::int64_t end, record::MarkKind kind, std::string name) {
    if (!begin || end <= *begin || marks_.size() >= kMost) return;
    record::Mark mark{.kind = kind, .name = std::move(name), .begin_ns = *begin, .end_ns = end};
    mark.number = std::ranges::count(marks_, kind, &record::Mark::kind);
    if (kind == record::MarkKind::region) evaluating_ns_ += end - *begin;
    marks_.push_back(std::move(mark));
    begin.reset();
  }

  void add_power(const Testimony& to) const;

  std::size_t line_ = 0, rates_line_ = 0;
  std::optional<Figure> batch_, accumulation_;
  std::optional<std::int64_t> begin_, end_, open_, evaluation_;
  std::int64_t evaluating_ns_ = 0;
  bool begun_ = false;
  std::vector<double> rates_;
  std::vector<record::Mark> marks_;
  std::vector<Reading> power_;
};

void MlLog::add_power(const Testimony& to) const {
  const auto device = static_cast<record::DeviceIndex>(to.run.devices.size());
  to.run.devices.push_back({.kind = record::DeviceKind::node, .name = "node power meter"});
  record::DeviceSeries series{device, {}, {}};
  for (const auto& reading : power_) series.time_ns.push_back(reading.time_ns);
  auto& column = series.column(kNodePower);
  for (std::size_t i = 0; i < power_.size(); ++i) column.values[i] = power_[i].milliwatt;
  record::SeriesQuality quality{.device = device, .metric = kNodePower, .how = record::How::integrated};
  quality.where = record::Where::imported;
  quality.scope = "node";
  quality.source = "MLPerf power_reading";
  quality.sampling = record::Sampling::irregular;
  quality.readings = power_.size();
  quality.phase_ns = power_.front().time_ns;
  if (power_.size() > 1)
    quality.cadence_ns =
        (power_.back().time_ns - power_.front().time_ns) / static_cast<std::int64_t>(power_.size() - 1);
  to.run.series.push_back(std::move(series));
  to.run.quality.push_back(std::move(quality));
}

void MlLog::finish(Testimony& to) {
  if (!rates_.empty()) to.facts.add("step.samples_per_s", "job", median(rates_), rates_line_);
  if (batch_) to.facts.add("job.global_batch_size", "job", batch_->value, batch_->line);
  if (accumulation_) to.facts.add("job.accumulation_steps", "job", accumulation_->value, accumulation_->line);
  if (begin_ && end_ && *end_ > *begin_) {
    to.run.set(record::meta::kJobBegin, *begin_);
    to.run.set(record::meta::kJobEnd, *end_);
    if (evaluating_ns_ > 0)
      to.facts.add("step.evaluation_share", "job",
                   static_cast<double>(evaluating_ns_) / static_cast<double>(*end_ - *begin_), line_);
  } else if (begun_ && !end_) {
    to.run.set(record::meta::kComplete, std::string("0"));
    to.notes.note("the run that it logs has no end");
  }
  to.run.marks.insert(to.run.marks.end(), marks_.begin(), marks_.end());
  if (!power_.empty()) add_power(to);
  if (begin_ || !marks_.empty() || !power_.empty()) to.run.set(record::meta::kZoneKnown, std::string("1"));
}

}  // namespace

std::unique_ptr<LineWitness> make_mllog() { return std::make_unique<MlLog>(); }

}  // namespace gradwatt::ingest
