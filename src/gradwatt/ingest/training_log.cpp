#include "gradwatt/ingest/training_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gradwatt/ingest/file_clock.hpp"
#include "gradwatt/ingest/line_time.hpp"
#include "gradwatt/ingest/median.hpp"
#include "gradwatt/ingest/step_lines.hpp"

namespace gradwatt::ingest {
namespace {

constexpr std::size_t kMostLines = 2'000'000;
constexpr std::size_t kMostRanks = 1U << 16U;

struct Entry {
  StepLine said;
  std::size_t line = 0;
  std::optional<std::int64_t> time_ns;  ///< time of day that the line begins with
  bool first_of_epoch = false;
};

/// Whether `next` goes on from `last` in the same epoch, and by how many steps.
std::optional<std::int64_t> steps_between(const Entry& last, const Entry& next) {
  const auto &a = last.said, &b = next.said;
  if (!a.step || !b.step || a.epoch != b.epoch || a.steps != b.steps || *b.step <= *a.step) return std::nullopt;
  return *b.step - *a.step;
}

struct StepTime {
  double s = 0;
  std::int64_t steps = 1;  ///< that it is the mean of
};

/// Seconds that the steps between two lines took, by what the lines have: the program's own clock, or the time of day.
std::optional<StepTime> time_between(const Entry& last, const Entry& next) {
  const auto steps = steps_between(last, next);
  if (!steps) return std::nullopt;
  std::optional<double> passed;
  if (last.said.elapsed_s && next.said.elapsed_s) {
    passed = *next.said.elapsed_s - *last.said.elapsed_s;
  } else if (last.time_ns && next.time_ns) {
    passed = static_cast<double>(*next.time_ns - *last.time_ns) * 1e-9;
  }
  if (!passed || *passed <= 0) return std::nullopt;
  return StepTime{*passed / static_cast<double>(*steps), *steps};
}

/// What one rank printed.
class RankLog {
 public:
  void add(Entry entry) {
    if (entries_.size() >= kMostLines) return;
    const bool goes_on =
        !entries_.empty() && entry.said.epoch == entries_.back().said.epoch &&
        (!entry.said.step || !entries_.back().said.step || *entry.said.step > *entries_.back().said.step);
    entry.first_of_epoch = !goes_on;
    goes_on_ = goes_on_ || goes_on;
    entries_.push_back(entry);
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  void add_facts(const std::string& subject, FactList& facts) const;
  void add_marks(std::int32_t rank, record::Run& run) const;

 private:
  [[nodiscard]] std::vector<StepTime> step_times() const;
  /// The first line of an epoch is start-up where others follow, and always where it is step 0.
  [[nodiscard]] bool skipped(const Entry& entry) const {
    return entry.first_of_epoch && (goes_on_ || entry.said.step == 0);
  }
  void add_data_wait(const std::string& subject, FactList& facts) const;

  std::vector<Entry> entries_;
  bool goes_on_ = false;  // some epoch has more than one line
};

std::vector<StepTime> RankLog::step_times() const {
  std::vector<StepTime> times;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto& entry = entries_[i];
    if (entry.said.time_s) {
      if (!skipped(entry)) times.push_back({*entry.said.time_s, 1});
    } else if (i > 0 && !entries_[i - 1].first_of_epoch) {
      if (const auto time = time_between(entries_[i - 1], entry)) times.push_back(*time);
    }
  }
  if (times.empty())
    for (std::size_t i = 1; i < entries_.size(); ++i)
      if (const auto time = time_between(entries_[i - 1], entries_[i])) times.push_back(*time);
  if (times.empty())
    for (const auto& entry : entries_)
      if (entry.said.time_mean_s && *entry.said.time_mean_s > 0) times.push_back({*entry.said.time_mean_s, 1});
  return times;
}

/// Time and its data part over an epoch, from the running means: the total at the last line less that at the first.
struct Totals {
  double time_s = 0, data_s = 0, steps = 0;
};
void add_epoch(Totals& totals, const Entry& first, const Entry& last) {
  const auto n = [](const Entry& entry) { return static_cast<double>(entry.said.step.value_or(0)) + 1; };
  const auto &a = first.said, &b = last.said;
  if (!b.time_mean_s || !b.data_mean_s) return;
  if (!b.step) {  // a summary of the epoch
    totals.time_s += *b.time_mean_s, totals.data_s += *b.data_mean_s, totals.steps += 1;
    return;
  }
  const bool whole = &first == &last || !a.time_mean_s || !a.data_mean_s;
  const auto time = *b.time_mean_s * n(last) - (whole ? 0 : *a.time_mean_s * n(first));
  const auto data = *b.data_mean_s * n(last) - (whole ? 0 : *a.data_mean_s * n(first));
  if (time <= 0 || data < 0 || data > time) return;
  totals.time_s += time, totals.data_s += data, totals.steps += n(last) - (whole ? 0 : n(first));
}

void RankLog::add_data_wait(const std::string& subject, FactList& facts) const {
  Totals of_means, of_samples;
  std::optional<double> longest;
  std::size_t line = 0;
  const Entry* first = nullptr;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const auto& entry = entries_[i];
    const auto& said = entry.said;
    if (said.data_s || said.data_mean_s) line = entry.line;
    if (entry.first_of_epoch || first == nullptr || !said.step) first = &entry;
    const bool ends = i + 1 == entries_.size() || entries_[i + 1].first_of_epoch || !entries_[i + 1].said.step;
    if (ends) add_epoch(of_means, *first, entry);
    if (!said.data_s || !said.time_s || skipped(entry)) continue;
    of_samples.time_s += *said.time_s, of_samples.data_s += *said.data_s, of_samples.steps += 1;
    longest = std::max(longest.value_or(0), *said.data_s);
  }
  const auto& totals = of_means.steps > 0 ? of_means : of_samples;
  if (totals.steps <= 0 || totals.time_s <= 0) return;
  facts.add("step.data_wait_s", subject, totals.data_s / totals.steps, line);
  facts.add("step.data_wait_share", subject, std::min(1.0, totals.data_s / totals.time_s), line);
  if (longest) facts.add("step.data_wait_max_s", subject, *longest, line);
}

void RankLog::add_facts(const std::string& subject, FactList& facts) const {
  const auto line = entries_.back().line;
  const auto times = step_times();
  if (!times.empty()) {
    std::vector<double> seconds;
    std::int64_t steps = 0;
    for (const auto& time : times) seconds.push_back(time.s), steps += time.steps;
    facts.add("step.time_s", subject, median(seconds), line);
    constexpr std::size_t kFewest = 20;  // below, the 95th percentile is the largest value
    if (seconds.size() >= kFewest) facts.add("step.time_p95_s", subject, quantile(seconds, 0.95), line);
    facts.add("step.count", subject, static_cast<double>(steps), line);
  }
  add_data_wait(subject, facts);
  if (subject != "job") return;  // rates and batches are of all ranks
  std::vector<double> rates;
  std::optional<double> batch;
  for (const auto& entry : entries_) {
    if (entry.said.samples_per_s && !skipped(entry)) rates.push_back(*entry.said.samples_per_s);
    if (entry.said.global_batch) batch = entry.said.global_batch;
  }
  if (!rates.empty()) facts.add("step.samples_per_s", subject, median(rates), line);
  if (batch) facts.add("job.global_batch_size", subject, *batch, line);
}

void RankLog::add_marks(std::int32_t rank, record::Run& run) const {
  std::int64_t number = 0;
  for (std::size_t i = 1; i < entries_.size(); ++i) {
    const auto &last = entries_[i - 1], &next = entries_[i];
    if (steps_between(last, next) != 1 || !last.time_ns || !next.time_ns || *next.time_ns <= *last.time_ns) continue;
    record::Mark mark{.rank = rank, .number = number++, .begin_ns = *last.time_ns, .end_ns = *next.time_ns};
    if (next.said.data_s)
      mark.phase_ns[static_cast<std::size_t>(record::Phase::data_wait)] =
          static_cast<std::int64_t>(*next.said.data_s * 1e9);
    run.marks.push_back(std::move(mark));
  }
}

class TrainingLog final : public LineWitness {
 public:
  explicit TrainingLog(const ImportOptions& options) : clock_(options) {}
  [[nodiscard]] std::string_view name() const override { return "training log"; }

  bool take(const Line& line) override {
    const auto [rank, text] = without_launcher_prefix(line.text);
    for (std::size_t i = 0; i < step_formats().size(); ++i) {
      const auto said = step_formats()[i].read(text);
      if (!said) continue;
      keep(rank.value_or(0), i, Entry{*said, line.number, time_of(text, line.number), false});
      return true;
    }
    return false;
  }

  void finish(Testimony& to) override;

 private:
  std::optional<std::int64_t> time_of(std::string_view text, std::size_t line) {
    const auto time = line_time(text);
    Diagnostics jumps("");  // an hour's step of a log's clock is no matter of steps
    return time ? clock_.place(*time, line, jumps) : std::nullopt;
  }
  void keep(std::int32_t rank, std::size_t format, const Entry& entry) {
    auto& program = programs_[format];
    if (program.ranks.size() >= kMostRanks && !program.ranks.contains(rank)) return;
    program.ranks[rank].add(entry);
    const auto& said = entry.said;
    program.timed += said.time_s || said.elapsed_s || said.time_mean_s || said.step ? 1 : 0;
    program.with_data += said.data_s || said.data_mean_s ? 1 : 0;
  }

  using ByRank = std::map<std::int32_t, RankLog>;
  struct Program {
    ByRank ranks;
    std::size_t timed = 0, with_data = 0;  ///< lines that tell a time, and waits for data
  };
  /// Two loggers may print the same steps: the one that says more is read. Null: none.
  [[nodiscard]] const Program* best() const {
    const auto worth = [](const auto& entry) {
      const auto& [format, program] = entry;
      return std::tuple(!step_formats()[format].only_bar, program.with_data, program.timed);
    };
    const auto most = std::ranges::max_element(programs_, {}, worth);
    return most != programs_.end() ? &most->second : nullptr;
  }

  FileClock clock_;
  std::map<std::size_t, Program> programs_;  // by place of the format in its table
};

void TrainingLog::finish(Testimony& to) {
  const auto* program = best();
  if (program == nullptr) return;
  const auto& logs = program->ranks;
  for (const auto& [rank, log] : logs) {
    if (logs.size() > 1) log.add_facts(fmt::format("rank {}", rank), to.facts);
    log.add_marks(rank, to.run);
  }
  const auto fullest = std::ranges::max_element(logs, {}, [](const auto& entry) { return entry.second.size(); });
  fullest->second.add_facts("job", to.facts);
  if (to.run.marks.empty()) return;
  to.run.set(record::meta::kZoneKnown, std::string(clock_.zone_known() ? "1" : "0"));
  if (!clock_.zone_known())
    to.notes.note("writes local time without its zone; it is read as UTC (--utc-offset gives the zone)");
}

}  // namespace

std::unique_ptr<LineWitness> make_training_log(const ImportOptions& options) {
  return std::make_unique<TrainingLog>(options);
}

}  // namespace gradwatt::ingest
