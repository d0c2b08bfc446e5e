// `gradwatt diagnose [RUN | FILE…]`: ranked causes, each with evidence, change, ceiling of the gain and proof; or what
// would decide.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "commands/table.hpp"
#include "gradwatt/diagnosis/diagnose.hpp"
#include "gradwatt/diagnosis/facts/facts.hpp"
#include "gradwatt/energy/steady_state.hpp"
#include "gradwatt/ingest/import.hpp"
#include "gradwatt/report/findings_json.hpp"
#include "gradwatt/report/findings_text.hpp"
#include "run_ref.hpp"

namespace gradwatt::app {
namespace {

constexpr std::array<std::string_view, 3> kFormats{"text", "json", "facts"};

struct Wanted {
  std::vector<std::string> runs, facts;
  std::string format, fail_on;
  bool json = false;
};

core::Result<void> settle(Wanted& wanted) {
  if (wanted.json && !wanted.format.empty() && wanted.format != "json")
    return core::fail(core::Errc::wrong_use, fmt::format("diagnose: --json contradicts --format {}", wanted.format));
  if (wanted.format.empty()) wanted.format = wanted.json ? "json" : "text";
  if (!wanted.fail_on.empty() && wanted.fail_on != "finding" && diagnosis::find_cause(wanted.fail_on) == nullptr)
    return core::fail(
        core::Errc::wrong_use,
        fmt::format("diagnose: --fail-on is '{}', but must be `finding` or a cause such as data:loader-synchronous",
                    wanted.fail_on));
  return expect_one_of("format", wanted.format, kFormats);
}

/// Several names are recordings that belong together; one may be a run of the store.
core::Result<record::Run> load(Context& context, const core::Settings& settings, const Wanted& wanted) {
  std::vector<std::filesystem::path> files;
  for (const auto& name : wanted.runs) {
    const auto ref = resolve_run(settings, context.working_folder, name);
    if (!ref) return core::fail(ref.error());
    if (ref->kind != RunRef::Kind::foreign && wanted.runs.size() + wanted.facts.size() == 1)
      return load_run(context, *ref, diagnosis::columns_for_facts());
    if (ref->kind != RunRef::Kind::foreign)
      return core::fail(
          core::Errc::wrong_use,
          fmt::format("diagnose: {} is a run; only recordings of other tools and facts files can be joined", name));
    files.push_back(ref->path);
  }
  for (const auto& name : wanted.facts) files.push_back(context.working_folder / name);
  if (files.empty()) {
    const auto ref = resolve_run(settings, context.working_folder, "");
    if (!ref) return core::fail(ref.error());
    return load_run(context, *ref, diagnosis::columns_for_facts());
  }
  auto imported = ingest::import_files(files);
  if (!imported) return core::fail(imported.error());
  for (const auto& diagnostic : imported->diagnostics) complain(context, ingest::format(diagnostic));
  return std::move(imported->run);
}

bool holds(const diagnosis::Diagnosis& diagnosis, const std::string& condition) {
  return std::ranges::any_of(diagnosis.findings, [&](const auto& finding) {
    return condition == "finding" ? !diagnosis::is_healthy(finding.info->cause) : finding.info->cause == condition;
  });
}

void print_text(Context& context, const diagnosis::Diagnosis& verdict, const std::vector<diagnosis::LintFinding>& lint,
                const std::string& rests_on) {
  context.out << report::findings_to_text(verdict, {.screen = context.screen, .rests_on = rests_on});
  if (const auto settings = report::lint_to_text(lint, context.screen); !settings.empty())
    context.out << '\n' << settings;
}

}  // namespace

core::Result<int> run_diagnose(Context& context, Arguments arguments) {
  Options options(context, "diagnose",
                  "Explains what holds a job back: causes with evidence, what to change, and how to prove it.");
  Wanted wanted;
  auto& app = options.app();
  app.add_option(
         "RUN", wanted.runs,
         "run folder, record, id, name, `last` (the default); or recordings of other tools that belong to one job: " +
             ingest::readable_formats())
      ->type_name("");
  app.add_option("--facts", wanted.facts,
                 "figures written by hand (JSON, gradwatt.facts/1), alone or beside recordings")
      ->type_name("FILE");
  app.add_option("--format", wanted.format, "text, json, or facts (what the verdict rests on, as a facts file)")
      ->type_name("FORMAT");
  app.add_flag("--json", wanted.json, "the same as --format json");
  app.add_option("--fail-on", wanted.fail_on, "exit status 1 when this cause is found; `finding`: when any fault is")
      ->type_name("CAUSE");
  const auto parsed = options.parse(arguments);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  if (auto settled = settle(wanted); !settled) return core::fail(settled.error());
  const auto settings = options.settings();
  if (!settings) return core::fail(settings.error());
  const auto run = load(context, *settings, wanted);
  if (!run) return core::fail(run.error());

  const auto facts = diagnosis::facts_of(*run);
  const auto verdict = diagnosis::diagnose(facts);
  const auto steady = energy::steady_part(*run);
  const auto rests_on = steady ? steady->why : std::string();
  if (wanted.format == "json")
    context.out << report::findings_to_json(verdict, facts, diagnosis::lint(facts),
                                            std::string(run->text(record::meta::kRunId).value_or("")), rests_on);
  else if (wanted.format == "facts")
    context.out << report::facts_to_json(facts);
  else
    print_text(context, verdict, diagnosis::lint(facts), rests_on);
  return !wanted.fail_on.empty() && holds(verdict, wanted.fail_on) ? 1 : 0;
}

}  // namespace gradwatt::app
