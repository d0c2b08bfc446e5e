// `gradwatt plan`: how to run a job for least energy within a deadline, a budget and a risk; a job file of it; and what
// came out, learnt for the next plan.
#include "gradwatt/planning/plan/plan.hpp"

#include <fmt/format.h>

#include <fstream>
#include <ostream>

#include "commands/plan_fits.hpp"
#include "commands/plan_inputs.hpp"
#include "commands/plan_job_file.hpp"
#include "commands/table.hpp"
#include "gradwatt/report/plan_text.hpp"
#include "run_ref.hpp"
#include "show_report.hpp"

namespace gradwatt::app {
namespace {

core::Result<void> write_file(const Context& context, const std::string& name, const std::string& text) {
  const auto path = context.working_folder / name;
  std::ofstream out(path);
  out << text;
  if (!out.flush()) return core::fail(core::Errc::not_permitted, fmt::format("plan: cannot write {}", path.string()));
  return {};
}

core::Result<int> emit(Context& context, const PlanWish& wish, const PlanAsk& ask, const planning::Plan& plan) {
  const auto script = job_file_of(wish, ask, plan);
  if (!script) return core::fail(script.error());
  if (wish.out.empty()) {
    context.out << *script;
    return 0;
  }
  if (auto written = write_file(context, wish.out, *script); !written) return core::fail(written.error());
  if (!wish.json) context.out << fmt::format("\n  job file   {} (sbatch {})\n", wish.out, wish.out);
  return 0;
}

core::Result<int> show(Context& context, const PlanWish& wish, const PlanAsk& ask) {
  const auto plan = make_plan(ask.question);
  if (!plan) return core::fail(plan.error().code, "plan: " + plan.error().message);
  const bool script_on_screen = !wish.emit.empty() && wish.out.empty();
  if (wish.json)
    context.out << report::plan_to_json(ask.question, *plan, ask.subject);
  else if (!script_on_screen || plan->impossible)
    context.out << report::plan_to_text(ask.question, *plan, ask.subject, context.screen);
  // Said on stdout, with the nearest plan; a script sees it by the status.
  if (plan->impossible) return static_cast<int>(3);
  return wish.emit.empty() ? core::Result<int>(0) : emit(context, wish, ask, *plan);
}

void print_residuals(Context& context, const std::string& job, const planning::ProfileRow& row,
                     const std::vector<planning::Residual>& residuals, const std::string& file) {
  report::Screen screen(context.screen);
  screen.line(fmt::format("Run {} against what the plan of {} predicted", row.source, job), report::Style::strong);
  screen.line(fmt::format("   {:<24}{:>12}{:>22}{:>12}{:>10}", "", "predicted", "90 %", "measured", "off"),
              report::Style::dim);
  for (const auto& r : residuals)
    screen.line(fmt::format("   {:<24}{:>12}{:>22}{:>12}{:>+9.1f}%{}", fmt::format("{} ({})", r.term, r.unit),
                            fmt::format("{:.4g}", r.predicted.value),
                            fmt::format("{:.4g} to {:.4g}", r.predicted.low90, r.predicted.high90),
                            fmt::format("{:.4g}", r.measured), 100 * (r.ratio() - 1), r.inside() ? "" : "  outside"));
  screen.entry("kept", file + "; the next plan of this job is fitted with it");
  context.out << screen.text();
}

core::Result<int> learn_from(Context& context, const ParsedPlan& parsed) {
  const auto& wish = parsed.wish;
  if (wish.from.empty() && wish.profile.empty() && wish.preset.empty())
    return core::fail(
        core::Errc::wrong_use,
        "plan: --learn holds a run against a plan, so say what that was made from: --from, --profile or --preset");
  const auto ref = resolve_run(parsed.settings, context.working_folder, wish.learn);
  if (!ref) return core::fail(ref.error());
  const auto run = load_run(context, *ref, report_columns());
  if (!run) return core::fail(run.error());
  auto row = planning::profile_row(*run);
  if (!row) return core::fail(row.error().code, "plan: --learn: " + row.error().message);
  row->source = run->text(record::meta::kRunId).value_or(wish.learn);
  const auto ask = gather_plan(context, parsed, row->source);
  if (!ask) return core::fail(ask.error());
  const auto residuals = residuals_of(ask->question.axes.hardware.front().job, *row);
  if (!residuals)
    return core::fail(residuals.error().code,
                      "plan: --learn: nothing was predicted for this run: " + residuals.error().message);
  const auto folder = fits_folder(parsed.settings);
  if (!folder) return core::fail(folder.error());
  const auto file = learn(*folder, ask->job, *row, *residuals);
  if (!file) return core::fail(file.error());
  if (wish.json)
    context.out << residuals_to_json(ask->job, *row, *residuals);
  else
    print_residuals(context, ask->job, *row, *residuals, file->string());
  return 0;
}

}  // namespace

core::Result<int> run_plan(Context& context, Arguments arguments) {
  const auto parsed = parse_plan(context, arguments);
  if (!parsed) return core::fail(parsed.error());
  if (!*parsed) return 0;
  if (!(*parsed)->wish.learn.empty()) return learn_from(context, **parsed);
  const auto ask = gather_plan(context, **parsed);
  if (!ask) return core::fail(ask.error());
  return show(context, (*parsed)->wish, *ask);
}

}  // namespace gradwatt::app
