#include "gradwatt/report/findings_text.hpp"

#include <fmt/format.h>

#include <cctype>

#include "gradwatt/report/figures.hpp"

namespace gradwatt::report {
namespace {

std::string sentence(std::string_view clause) {
  std::string out(clause);
  if (!out.empty()) out.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(out.front())));
  return out;
}

/// "you", "root", "the operator of the machine": who may make the change.
std::string_view owner_text(std::string_view owner) {
  if (owner == "root") return "needs root";
  if (owner == "operator") return "ask the operator of the machine";
  return "you";
}

std::string headline(std::size_t place, const diagnosis::Finding& finding) {
  return fmt::format("{}. {}", place, sentence(finding.info->title));
}

/// Each clause under the label of the first.
void put_evidence(Screen& screen, std::string_view label, const std::vector<diagnosis::Evidence>& pieces) {
  for (const auto& piece : pieces) {
    screen.entry(label, printable(piece.text));
    label = "";
  }
}

void put_finding(Screen& screen, std::size_t place, const diagnosis::Finding& finding) {
  screen.line(headline(place, finding), Style::strong);
  screen.entry("cause", fmt::format("{}, confidence {}", finding.info->cause, share_text(finding.confidence)));
  put_evidence(screen, "because", finding.evidence);
  put_evidence(screen, "against", finding.contradicted);
  if (finding.culprit && finding.culprit->cause != nullptr) {
    screen.entry("culprit",
                 fmt::format("rank {}: {} ({}, confidence {})", finding.culprit->rank, finding.culprit->cause->title,
                             finding.culprit->cause->cause, share_text(finding.culprit->confidence)));
    put_evidence(screen, "", finding.culprit->evidence);
  } else if (finding.culprit) {
    screen.entry("culprit",
                 fmt::format("rank {}; not enough is known of it to say what slows it down", finding.culprit->rank));
  }
  if (diagnosis::is_healthy(finding.info->cause)) {
    screen.entry("so", finding.advice.change);
    return;
  }
  screen.entry("change", fmt::format("{} ({})", finding.advice.change, owner_text(finding.advice.owner)));
  if (!finding.advice.precondition.empty()) screen.entry("only if", finding.advice.precondition);
  if (finding.ceiling)
    screen.entry("gain", fmt::format("at most {} of the step time; what it really is, a comparison shows",
                                     share_text(*finding.ceiling)));
  screen.entry("prove it", finding.verify);
  if (!finding.advice.rollback.empty()) screen.entry("take back", finding.advice.rollback);
}

void put_missing(Screen& screen, const diagnosis::Diagnosis& diagnosis) {
  if (diagnosis.missing.empty()) return;
  screen.blank();
  screen.line(diagnosis.decided() ? "What would make it surer" : "What would decide", Style::strong);
  for (const auto& missing : diagnosis.missing) {
    const auto what = missing.what.empty() ? missing.fact : missing.what;
    screen.entry("", fmt::format("{} ({}): {}", what, missing.fact, missing.how));
  }
}

void put_candidates(Screen& screen, const diagnosis::Diagnosis& diagnosis) {
  if (diagnosis.candidates.empty() || diagnosis.decided()) return;
  screen.blank();
  screen.line("Possible, and not shown by what is known", Style::strong);
  for (const auto& candidate : diagnosis.candidates)
    screen.entry(share_text(candidate.confidence),
                 fmt::format("{} ({}): {}", candidate.info->title, candidate.info->cause,
                             printable(candidate.evidence.front().text)));
}

std::string in_brief(Screen& screen, const diagnosis::Diagnosis& diagnosis) {
  const auto& first = diagnosis.findings.front();
  screen.entry(
      "finding",
      fmt::format("{} ({}, confidence {})", first.info->title, first.info->cause, share_text(first.confidence)),
      Style::strong);
  if (!first.evidence.empty()) screen.entry("because", printable(first.evidence.front().text));
  if (!diagnosis::is_healthy(first.info->cause)) screen.entry("change", first.advice.change);
  return screen.text();
}

Style style_of(diagnosis::LintSeverity severity) {
  return severity == diagnosis::LintSeverity::wrong ? Style::bad : Style::plain;
}

}  // namespace

std::string lint_to_text(const std::vector<diagnosis::LintFinding>& findings, const Screen::Options& options) {
  Screen screen(options);
  if (!findings.empty()) screen.line("Settings", Style::strong);
  for (const auto& finding : findings) {
    screen.entry(name_of(finding.severity), printable(finding.setting), style_of(finding.severity));
    screen.entry("", finding.reason);
    if (!finding.fix.empty()) screen.entry("", fmt::format("→ {} ({})", finding.fix, owner_text(finding.owner)));
  }
  return screen.text();
}

std::string findings_to_text(const diagnosis::Diagnosis& diagnosis, const FindingsText& options) {
  Screen screen(options.screen);
  if (options.brief) return diagnosis.decided() ? in_brief(screen, diagnosis) : std::string();
  if (!options.rests_on.empty()) screen.line("Rests on " + options.rests_on, Style::dim);
  if (!diagnosis.decided()) screen.line("Not enough data for a verdict.", Style::strong);
  for (std::size_t i = 0; i < diagnosis.findings.size(); ++i) {
    if (i > 0 && i <= options.most) screen.blank();
    if (i < options.most)
      put_finding(screen, i + 1, diagnosis.findings[i]);
    else
      screen.line(headline(i + 1, diagnosis.findings[i]));
  }
  put_candidates(screen, diagnosis);
  put_missing(screen, diagnosis);
  return screen.text();
}

}  // namespace gradwatt::report
