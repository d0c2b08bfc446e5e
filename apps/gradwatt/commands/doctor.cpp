// `gradwatt doctor`: what can be measured on this machine, by which source, and the one line that mends each gap.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "commands/table.hpp"
#include "gradwatt/diagnosis/facts/facts.hpp"
#include "gradwatt/diagnosis/lint/lint.hpp"
#include "gradwatt/report/findings_json.hpp"
#include "gradwatt/report/findings_text.hpp"
#include "node_facts.hpp"
#include "wiring.hpp"

namespace gradwatt::app {
namespace {

using Json = nlohmann::ordered_json;

struct Line {
  std::string backend;
  telemetry::SourceStatus status;
};

std::vector<Line> probe_all(const std::vector<std::unique_ptr<telemetry::Backend>>& backends) {
  std::vector<Line> lines;
  for (const auto& backend : backends)
    for (auto& status : backend->probe()) lines.push_back({std::string(backend->name()), std::move(status)});
  return lines;
}

std::string_view rights() { return ::geteuid() == 0 ? "root" : "an ordinary user"; }

void print_json(Context& context, const std::vector<Line>& lines) {
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  Json sources = Json::array();
  for (const auto& [backend, s] : lines)
    sources.push_back({{"backend", backend},
                       {"source", s.source},
                       {"supplies", s.supplies},
                       {"usable", s.usable},
                       {"detail", text_or_null(s.detail)},
                       {"remedy", text_or_null(s.remedy)}});
  const Json object{{"schema", "gradwatt.doctor/1"}, {"root", ::geteuid() == 0}, {"sources", sources}};
  context.out << object.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

void put_source(report::Screen& screen, const telemetry::SourceStatus& status) {
  // A mark and a word: neither colour nor a font decides whether it can be read.
  screen.line(fmt::format("  {} {}", status.usable ? "✓" : "✗", report::printable(status.source)),
              status.usable ? report::Style::good : report::Style::bad);
  screen.entry("", fmt::format("{} {}", status.usable ? "gives" : "would give", report::printable(status.supplies)));
  if (!status.detail.empty())
    screen.entry("", fmt::format("{} {}", status.usable ? "found:" : "missing:", report::printable(status.detail)));
}

void print_text(Context& context, const std::vector<Line>& lines) {
  report::Screen screen(context.screen);
  screen.line(fmt::format("What gradwatt can measure on this machine, as {}", rights()), report::Style::strong);
  screen.blank();
  for (const auto& line : lines) put_source(screen, line.status);
  if (lines.empty()) screen.line("  nothing: no sensor source is left by the settings");
  std::string remedies;
  for (const auto& [backend, status] : lines)
    if (!status.remedy.empty())
      remedies += fmt::format("  {}\n    {}\n", status.source, report::printable(status.remedy));
  context.out << screen.text();
  // Commands are printed unbroken, to be copied.
  if (!remedies.empty())
    context.out << "\nTo measure more\n" << (context.screen.utf8 ? remedies : report::to_ascii(remedies));
}

int print_lint(Context& context, const std::vector<diagnosis::LintFinding>& findings, bool json) {
  if (json)
    context.out << report::lint_to_json(findings);
  else if (findings.empty())
    context.out << "Settings: nothing stands out among " << diagnosis::lint_rows().size() << " that were looked at.\n";
  else
    context.out << report::lint_to_text(findings, context.screen);
  return 0;
}

}  // namespace

core::Result<int> run_doctor(Context& context, Arguments arguments) {
  Options options(context, "doctor",
                  "Says what can be measured on this machine, by which source and with which rights,\n"
                  "and the one line that mends each gap.");
  bool json = false, lint = false;
  options.app().add_flag("--json", json, "print JSON");
  options.app().add_flag(
      "--lint", lint,
      "judge the settings of this node and of the environment instead: NCCL, threads, limits, power, links");
  options.add_setting(core::setting("sensors.include"), "--sensors");
  options.add_setting(core::setting("sensors.exclude"), "--without-sensors");
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  const auto settings = options.settings();
  if (!settings) return core::fail(settings.error());
  const auto backends = make_backends(*settings);
  if (!backends) return core::fail(backends.error());
  if (lint) return print_lint(context, diagnosis::lint(diagnosis::facts_of(look_at_node(context, *backends))), json);
  const auto lines = probe_all(*backends);
  if (json)
    print_json(context, lines);
  else
    print_text(context, lines);
  return 0;
}

}  // namespace gradwatt::app
