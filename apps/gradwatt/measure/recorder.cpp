#include "measure/recorder.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "gradwatt/units/quantity.hpp"
#include "show_report.hpp"

namespace gradwatt::app {
namespace {

using namespace std::chrono_literals;

/// A ring holds 1.6 s of marks at 10 kHz. Each round costs a wake-up with cold caches, so that a quiet job gets few.
constexpr core::Duration kHousekeeping = 1s;
constexpr core::Duration kHousekeepingOfBusyRings = 250ms;
constexpr std::size_t kBusyBatch = 2000;
/// A driver that answers at all answers within this; one that does not is left behind.
constexpr core::Duration kLastReadingPatience = 2s;
constexpr auto kDiskPatience = 10s;
/// Window of the step rate in the status line.
constexpr std::size_t kRecentSteps = 50;

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; }

}  // namespace

Recorder::Recorder(core::Clock& clock, telemetry::JobScope& job, Plan plan)
    : clock_(clock), job_(job), plan_(std::move(plan)) {}

Recorder::~Recorder() = default;

void Recorder::start() {
  auto writer = record::Writer::create(plan_.place.file);
  if (!writer) {
    problems_.push_back(writer.error().message + "; the run is measured but not kept");
    plan_.place = {};
    writer = record::Writer::create({});
  }
  writer_ = std::move(*writer);
  const auto anchor = core::anchor_now(clock_);
  writer_->set_meta(record::meta::kClock, "monotonic");
  writer_->set_meta(record::meta::kAnchorMonotonic, std::to_string(core::to_ns(anchor.monotonic)));
  writer_->set_meta(record::meta::kAnchorWall, std::to_string(anchor.wall.time_since_epoch().count()));
  writer_->set_meta(record::meta::kInterval, std::to_string(plan_.sampling.interval.count()));
  for (const auto& [key, value] : plan_.meta) writer_->set_meta(key, value);
  feed_ = std::make_unique<LiveFeed>(*writer_);
  watch_.emplace(plan_.triggers, *writer_);
  sampler_ = std::make_unique<telemetry::Sampler>(clock_, *feed_, job_, plan_.sampling);
  began_ = clock_.now();
  sampler_->start(std::move(plan_.backends));
  if (!plan_.marks_folder.empty()) rings_.emplace(plan_.marks_folder);
  housekeeper_ = std::jthread([this](const std::stop_token& stop) { keep_house(stop); });
}

void Recorder::job_began(core::Instant when) {
  writer_->set_meta(record::meta::kJobBegin, std::to_string(core::to_ns(when)));
}

void Recorder::event(std::string kind, std::string text) {
  writer_->add_event({core::to_ns(clock_.now()), std::nullopt, std::move(kind), std::move(text)});
}

void Recorder::take(const launch::marks::Batch& batch) {
  marks_lost_ += batch.overruns + batch.torn + batch.malformed;
  for (const auto& mark : batch.marks) feed_->add_mark(mark);
  for (const auto& fact : batch.facts) writer_->add_fact(fact);
  const std::lock_guard lock(steps_mutex_);
  for (const auto& mark : batch.marks) {
    if (mark.kind != record::MarkKind::step) continue;
    ++steps_of_rank_[mark.rank];
    if (mark.rank != steps_of_rank_.begin()->first) continue;
    if (recent_step_ends_ns_.size() == kRecentSteps) recent_step_ends_ns_.erase(recent_step_ends_ns_.begin());
    recent_step_ends_ns_.push_back(mark.end_ns);
  }
  for (const auto& fact : batch.facts)
    if (fact.name == "job.total_steps")
      if (const auto total = record::as_number(fact)) total_steps_ = static_cast<std::int64_t>(*total);
}

StepCount Recorder::steps() const {
  const std::lock_guard lock(steps_mutex_);
  StepCount count;
  for (const auto& [rank, steps] : steps_of_rank_) count.steps = std::max(count.steps, steps);
  const auto& ends = recent_step_ends_ns_;
  if (ends.size() > 1 && ends.back() > ends.front())
    count.steps_per_s = static_cast<double>(ends.size() - 1) / (static_cast<double>(ends.back() - ends.front()) * 1e-9);
  count.total_steps = total_steps_;
  return count;
}

std::vector<diagnosis::Trigger> Recorder::alerts() const { return feed_->alerts(); }

void Recorder::keep_house(const std::stop_token& stop) {
  auto due = began_ + kHousekeeping;
  auto second = due;
  while (clock_.sleep_until(due, stop)) {
    bool busy = false;
    if (rings_) {
      const auto batch = rings_->poll();
      busy = batch.marks.size() > kBusyBatch;
      take(batch);
    }
    if (due >= second) {
      second += 1s;
      sampler_->watch();
      plan_.each_second(*this);
      auto* rings = rings_ ? &*rings_ : nullptr;
      if (watch_->due(clock_.now())) watch_->look(clock_.now(), alerts(), rings);
      watch_->follow_drill_down(clock_.now(), rings);
    }
    due += busy ? kHousekeepingOfBusyRings : kHousekeeping;
  }
}

void Recorder::write_own_cost() {
  const auto stats = sampler_->stats();
  const auto say = [&](const char* name, double value, const char* unit) {
    writer_->add_fact({name, "host", value, unit, {}, record::How::counter, record::Where::live, {}, "gradwatt"});
  };
  if (plan_.process_is_ours) {
    rusage own{};
    ::getrusage(RUSAGE_SELF, &own);
    say("sampler.cpu_s", seconds(own.ru_utime) + seconds(own.ru_stime), "s");
    say("sampler.rss_bytes", static_cast<double>(own.ru_maxrss) * 1024, "bytes");
  }
  say("sampler.ticks", static_cast<double>(stats.ticks), "");
  say("sampler.late_ticks", static_cast<double>(stats.late_ticks + stats.missed_ticks), "");
  say("sampler.interval_s", units::in_seconds(plan_.sampling.interval), "s");
  say("sampler.rows_lost", static_cast<double>(writer_->health().rows_lost), "");
}

Recorder::Finished Recorder::finish(core::Instant job_end, std::optional<int> exit_status) {
  Finished finished;
  housekeeper_.request_stop();
  housekeeper_.join();
  if (rings_) {
    watch_->follow_drill_down(clock_.now(), &*rings_, /*last=*/true);
    take(rings_->finish());
    for (const auto& problem : rings_->problems()) problems_.push_back(problem);
  }
  sampler_->stop(kLastReadingPatience);
  if (marks_lost_ > 0) problems_.push_back(fmt::format("{} marks of the job were lost", marks_lost_));
  for (auto& problem : sampler_->stats().problems) problems_.push_back(std::move(problem));
  finished.thread_left_behind = sampler_->left_behind();
  writer_->set_meta(record::meta::kJobEnd, std::to_string(core::to_ns(job_end)));
  if (exit_status) writer_->set_meta(record::meta::kExitStatus, std::to_string(*exit_status));
  write_own_cost();
  finished.kept = writer_->close(kDiskPatience) && !plan_.place.file.empty();
  const auto health = writer_->health();
  if (health.failure)
    problems_.push_back(fmt::format("{}; {} rows are missing in it", *health.failure, health.rows_lost));
  auto run = writer_->read_back(diagnosis_columns());
  if (run) {
    finished.run = std::move(*run);
  } else {
    problems_.push_back(run.error().message);
    finished.thread_left_behind = true;
  }
  finished.problems = std::move(problems_);
  return finished;
}

}  // namespace gradwatt::app
