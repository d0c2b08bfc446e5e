#include "measure/trigger_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gradwatt/diagnosis/diagnose.hpp"
#include "gradwatt/diagnosis/facts/facts.hpp"
#include "gradwatt/ingest/import.hpp"
#include "gradwatt/report/figures.hpp"

namespace gradwatt::app {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr core::Duration kEvery = 15s;
/// Enough steps for a breakdown, few enough to keep a trace small and the job undisturbed.
constexpr std::uint32_t kTracedSteps = 6;

std::vector<fs::path> traces_in(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json" && entry.path().stem().extension() != ".part") out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

}  // namespace

bool TriggerWatch::due(core::Instant now) {
  if (!next_) next_ = now + kEvery;
  if (now < *next_) return false;
  next_ = now + kEvery;
  return true;
}

void TriggerWatch::event(core::Instant now, std::string kind, std::string text) {
  sink_.add_event({core::to_ns(now), std::nullopt, std::move(kind), std::move(text)});
}

void TriggerWatch::look(core::Instant now, const std::vector<diagnosis::Trigger>& alerts,
                        launch::marks::RingDirectory* rings) {
  bool fresh = false;
  for (const auto& trigger : alerts) {
    if (trigger.severity == diagnosis::Severity::note || !fired_.emplace(trigger.name).second) continue;
    event(now, fmt::format("trigger.{}", trigger.name), trigger.text);
    options_.say(trigger.text);
    fresh = true;
  }
  if (fresh && asked_ == 0 && !options_.traces.empty()) begin_drill_down(now, rings);
}

void TriggerWatch::begin_drill_down(core::Instant now, launch::marks::RingDirectory* rings) {
  if (rings == nullptr) return;
  std::error_code error;
  fs::create_directories(options_.traces, error);
  asked_ = error ? 0 : rings->request_profile(kTracedSteps, options_.traces / "trace");
  event(now, "drill-down.begin",
        asked_ > 0
            ? fmt::format("asked {} process{} for a trace of {} steps", asked_, asked_ == 1 ? "" : "es", kTracedSteps)
            : std::string("no process of the job has an agent that could take a trace"));
}

void TriggerWatch::follow_drill_down(core::Instant now, launch::marks::RingDirectory* rings, bool last) {
  if (asked_ == 0 || analysed_) return;
  if (last || (rings != nullptr && rings->profiles_answered() >= asked_)) analyse(now);
}

void TriggerWatch::analyse(core::Instant now) {
  analysed_ = true;
  const auto files = traces_in(options_.traces);
  if (files.empty()) return event(now, "drill-down.end", "no trace came: the job ended before, or it profiles itself");
  const auto imported = ingest::import_files(files);
  if (!imported) return event(now, "drill-down.end", imported.error().message);
  for (const auto& fact : imported->run.facts) sink_.add_fact(fact);
  const auto verdict = diagnosis::diagnose(diagnosis::facts_of(imported->run));
  const auto text =
      verdict.decided()
          ? fmt::format("{} trace{}: {} ({}, confidence {})", files.size(), files.size() == 1 ? "" : "s",
                        verdict.findings.front().info->title, verdict.findings.front().info->cause,
                        report::share_text(verdict.findings.front().confidence))
          : fmt::format("{} trace{}: alone they decide nothing", files.size(), files.size() == 1 ? "" : "s");
  event(now, "drill-down.end", text);
  options_.say(text);
}

}  // namespace gradwatt::app
