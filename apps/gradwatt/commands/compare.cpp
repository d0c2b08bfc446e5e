// `gradwatt compare A B`, `gradwatt compare A… --vs B…`: what changed, with an interval that says what it contains.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "commands/table.hpp"
#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/diagnosis/diagnose.hpp"
#include "gradwatt/diagnosis/facts/facts.hpp"
#include "gradwatt/energy/comparison.hpp"
#include "gradwatt/report/comparison_text.hpp"
#include "run_ref.hpp"
#include "show_report.hpp"

namespace gradwatt::app {
namespace {

struct Wanted {
  std::vector<std::string> a, b;
  std::string format, fail_on, cause;
  bool json = false;
  std::optional<double> regression;  ///< part of the speed that may be lost
};

core::Result<void> settle_sides(Wanted& wanted) {
  if (wanted.b.empty() && wanted.a.size() == 2) {
    wanted.b = {wanted.a.back()};
    wanted.a.pop_back();
  }
  if (wanted.a.empty() || wanted.b.empty())
    return core::fail(core::Errc::wrong_use,
                      "compare: name two runs, or several a side: gradwatt compare A1 A2 A3 --vs B1 B2 B3");
  return {};
}

/// "regression=3%".
core::Result<void> settle_condition(Wanted& wanted) {
  if (wanted.fail_on.empty()) return {};
  constexpr std::string_view kName = "regression=";
  std::string_view text = wanted.fail_on;
  if (text.starts_with(kName)) {
    text.remove_prefix(kName.size());
    const bool percent = text.ends_with('%');
    if (percent) text.remove_suffix(1);
    if (const auto number = core::parse_number(text); number && *number >= 0) {
      wanted.regression = percent ? *number / 100 : *number;
      if (*wanted.regression < 1) return {};
    }
  }
  return core::fail(core::Errc::wrong_use,
                    fmt::format("compare: --fail-on is '{}', but must be like regression=3%", wanted.fail_on));
}

core::Result<void> settle(Wanted& wanted) {
  if (wanted.json && !wanted.format.empty() && wanted.format != "json")
    return core::fail(core::Errc::wrong_use, fmt::format("compare: --json contradicts --format {}", wanted.format));
  if (wanted.format.empty()) wanted.format = wanted.json ? "json" : "text";
  if (auto known = expect_one_of("format", wanted.format, std::to_array<std::string_view>({"text", "json"})); !known)
    return known;
  if (!wanted.cause.empty() && diagnosis::find_cause(wanted.cause) == nullptr)
    return core::fail(
        core::Errc::wrong_use,
        fmt::format("compare: --cause is '{}', which is no cause that gradwatt knows; try data:loader-synchronous",
                    wanted.cause));
  if (auto sides = settle_sides(wanted); !sides) return sides;
  return settle_condition(wanted);
}

core::Result<std::vector<record::Run>> load_side(Context& context, const core::Settings& settings,
                                                 const std::vector<std::string>& names) {
  std::vector<record::Run> runs;
  for (const auto& name : names) {
    const auto ref = resolve_run(settings, context.working_folder, name);
    if (!ref) return core::fail(ref.error());
    auto run = load_run(context, *ref, diagnosis_columns());
    if (!run) return core::fail(run.error());
    runs.push_back(std::move(*run));
  }
  return runs;
}

/// The cause that was named, else the first fault that is found in the first run.
const diagnosis::CauseInfo* cause_in_question(const Wanted& wanted, const record::Run& before) {
  if (!wanted.cause.empty()) return diagnosis::find_cause(wanted.cause);
  const auto verdict = diagnosis::diagnose(diagnosis::facts_of(before));
  return verdict.decided() && !diagnosis::is_healthy(verdict.findings.front().info->cause)
             ? verdict.findings.front().info
             : nullptr;
}

std::vector<energy::RunFigures> figures_of_side(const std::vector<record::Run>& runs,
                                                const diagnosis::CauseInfo* cause) {
  std::vector<energy::RunFigures> out;
  for (const auto& run : runs) {
    auto figures = energy::figures_of(run);
    const auto facts = diagnosis::facts_of(run);
    if (cause != nullptr) figures.cause_metric = facts.number(cause->metric);
    figures.skew_share = facts.number("rank.skew_share");
    out.push_back(std::move(figures));
  }
  return out;
}

/// A slow-down of more than what may be lost, which is no chance.
bool regressed(const energy::Comparison& comparison, double allowed) {
  const auto* speed = comparison.speed();
  return speed != nullptr && speed->change && *speed->change < -allowed &&
         (speed->interval == energy::IntervalOf::none || speed->moved());
}

std::string side_name(const std::vector<std::string>& names) {
  // Of a path the last part tells most; a column has room for no more.
  const auto first = std::filesystem::path(names.front()).filename().string();
  const auto name = first.empty() ? names.front() : first;
  return names.size() == 1 ? name : fmt::format("{} + {}", name, names.size() - 1);
}

}  // namespace

core::Result<int> run_compare(Context& context, Arguments arguments) {
  Options options(context, "compare",
                  "Puts two runs, or two groups of runs, side by side: what changed, and how sure that is.");
  Wanted wanted;
  auto& app = options.app();
  app.add_option("RUN", wanted.a, "two runs; or, with --vs, the runs of the first side")->type_name("")->required();
  app.add_option("--vs", wanted.b, "runs of the second side; runs taken in turn (A B A B …) are compared in pairs")
      ->type_name("RUN …");
  app.add_option(
         "--cause", wanted.cause,
         "cause that was changed; its own figure must have moved too (default: what diagnose finds in the first run)")
      ->type_name("CAUSE");
  app.add_option("--format", wanted.format, "text or json")->type_name("FORMAT");
  app.add_flag("--json", wanted.json, "the same as --format json");
  app.add_option("--fail-on", wanted.fail_on,
                 "exit status 1 when the second side is slower by more than this and the interval excludes chance: "
                 "regression=3%")
      ->type_name("CONDITION");
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  if (auto settled = settle(wanted); !settled) return core::fail(settled.error());
  const auto settings = options.settings();
  if (!settings) return core::fail(settings.error());
  const auto a = load_side(context, *settings, wanted.a);
  if (!a) return core::fail(a.error());
  const auto b = load_side(context, *settings, wanted.b);
  if (!b) return core::fail(b.error());

  const auto* cause = cause_in_question(wanted, a->front());
  const auto comparison = energy::compare(figures_of_side(*a, cause), figures_of_side(*b, cause));
  const report::ComparisonNames names{side_name(wanted.a), side_name(wanted.b),
                                      cause != nullptr ? std::string(cause->cause) : "",
                                      cause != nullptr ? std::string(cause->metric) : ""};
  context.out << (wanted.format == "json" ? report::comparison_to_json(comparison, names)
                                          : report::comparison_to_text(comparison, names, context.screen));
  return wanted.regression && regressed(comparison, *wanted.regression) ? 1 : 0;
}

}  // namespace gradwatt::app
