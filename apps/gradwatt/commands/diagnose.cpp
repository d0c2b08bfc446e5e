// `gradwatt diagnose [RUN | FILE…]`: ranked causes, each with evidence, change, ceiling of the gain and proof; or what
// would decide.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
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

core::Result<record::Run> import(Context& context, const std::vector<std::filesystem::path>& files) {
  auto imported = ingest::import_files(files);
  if (!imported) return core::fail(imported.error());
  for (const auto& diagnostic : imported->diagnostics) complain(context, ingest::format(diagnostic));
  return std::move(imported->run);
}

/// What logs, traces and facts files say of the same job. Their samples are left aside: a run has its own, and the two
/// clocks cannot be set side by side.
void testify(record::Run& run, record::Run witnesses, Context& context) {
  if (!witnesses.series.empty())
    complain(context,
             "diagnose: the files' samples over time are left aside, the run has its own; their facts are used");
  std::ranges::move(witnesses.facts, std::back_inserter(run.facts));
}

/// Several names belong to one job: recordings of other tools, facts files, and one run at most.
core::Result<record::Run> load(Context& context, const core::Settings& settings, const Wanted& wanted) {
  std::optional<RunRef> measured;
  std::vector<std::filesystem::path> files;
  for (const auto& name : wanted.runs) {
    const auto ref = resolve_run(settings, context.working_folder, name);
    if (!ref) return core::fail(ref.error());
    if (ref->kind == RunRef::Kind::foreign) {
      files.push_back(ref->path);
    } else if (measured) {
      return core::fail(
          core::Errc::wrong_use,
          fmt::format("diagnose: {} is a second run or a folder; give one run, and files beside it by their "
                      "names (compare sets two runs side by side)",
                      name));
    } else {
      measured = *ref;
    }
  }
  for (const auto& name : wanted.facts) files.push_back(context.working_folder / name);
  if (!measured && !files.empty()) return import(context, files);
  if (!measured) {
    const auto last = resolve_run(settings, context.working_folder, "");
    if (!last) return core::fail(last.error());
    measured = *last;
  }
  auto run = load_run(context, *measured, diagnosis::columns_for_facts());
  if (!run || files.empty()) return run;
  auto witnesses = import(context, files);
  if (!witnesses) return core::fail(witnesses.error());
  testify(*run, std::move(*witnesses), context);
  return run;
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
  app.add_option("RUN", wanted.runs,
                 "run folder, record, id, name, `last` (the default); recordings of other tools, alone or beside a run "
                 "of the same "
                 "job: " +
                     ingest::readable_formats())
      ->type_name("");
  app.add_option("--facts", wanted.facts,
                 "figures written by hand (JSON, gradwatt.facts/1), alone or beside a run and recordings")
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
