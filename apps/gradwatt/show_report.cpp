#include "show_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "gradwatt/diagnosis/diagnose.hpp"
#include "gradwatt/diagnosis/facts/facts.hpp"
#include "gradwatt/diagnosis/triggers.hpp"
#include "gradwatt/report/figures.hpp"

namespace gradwatt::app {
namespace {

/// "~" for the home folder, as people write it and shells read it.
std::string friendly_path(const Context& context, const std::filesystem::path& path) {
  const auto text = path.string();
  const auto home = context.variable("HOME");
  const bool below_home =
      home.size() > 1 && text.size() > home.size() && text.starts_with(home) && text[home.size()] == '/';
  return below_home ? "~" + text.substr(home.size()) : text;
}

}  // namespace

energy::Options summary_options(const core::Settings& settings) {
  energy::Options options;
  options.factors.pue = settings.number(core::setting("pue"));
  options.factors.price_per_kwh = settings.number(core::setting("price_per_kwh"));
  options.factors.currency = settings.text(core::setting("currency")).value_or("");
  options.factors.co2_g_per_kwh = settings.number(core::setting("co2_g_per_kwh"));
  options.total_steps = settings.count(core::setting("steps"));
  options.total_epochs = settings.count(core::setting("epochs"));
  return options;
}

record::LoadOptions report_columns() {
  auto options = energy::columns_for_summary();
  for (const auto metric : diagnosis::columns_for_triggers())
    if (std::ranges::find(*options.metrics, metric) == options.metrics->end()) options.metrics->push_back(metric);
  return options;
}

record::LoadOptions diagnosis_columns() {
  auto options = report_columns();
  for (const auto metric : *diagnosis::columns_for_facts().metrics)
    if (std::ranges::find(*options.metrics, metric) == options.metrics->end()) options.metrics->push_back(metric);
  return options;
}

std::optional<report::TriggerLine> top_finding(const record::Run& run, const std::string& run_words) {
  const auto verdict = diagnosis::diagnose(diagnosis::facts_of(run));
  if (!verdict.decided() || diagnosis::is_healthy(verdict.findings.front().info->cause)) return std::nullopt;
  const auto& first = verdict.findings.front();
  auto text =
      fmt::format("{} ({}, confidence {})", first.info->title, first.info->cause, report::share_text(first.confidence));
  if (!first.evidence.empty()) text += ": " + first.evidence.front().text;
  return report::TriggerLine{text, run_words.empty() ? "gradwatt diagnose" : "gradwatt diagnose " + run_words};
}

std::optional<report::TriggerLine> top_trigger(const record::Run& run, const std::string& run_words) {
  const auto triggers = diagnosis::evaluate(run);
  if (triggers.empty()) return std::nullopt;
  const auto& strongest = triggers.front();
  const auto next = run_words.empty() || strongest.next.empty() ? strongest.next : strongest.next + " " + run_words;
  return report::TriggerLine{strongest.text, next};
}

void show_report(Context& context, const core::Settings& settings, const record::Run& run,
                 const energy::Summary& summary, const ReportPlace& place) {
  report::TextOptions options;
  options.screen = context.screen;
  options.factors = summary_options(settings).factors;
  options.trigger = place.finding ? place.finding : top_trigger(run, place.run_words);
  if (!place.record.empty()) options.record_place = friendly_path(context, place.record);
  if (!place.record.empty() || !place.run_words.empty()) {
    const auto words = place.run_words.empty() ? "" : " " + place.run_words;
    options.next_commands = {"gradwatt diagnose" + words, "gradwatt report --json" + words};
  }
  context.out << report::to_text(run, summary, options);
}

}  // namespace gradwatt::app
