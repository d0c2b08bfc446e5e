#include "measure/conclusion.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <ostream>

#include "baseline_store.hpp"
#include "gradwatt/diagnosis/scaling_trigger.hpp"
#include "gradwatt/launch/redact.hpp"
#include "gradwatt/report/json.hpp"
#include "run_ref.hpp"
#include "show_report.hpp"
#include "wiring.hpp"

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;

fs::path temporary_folder(const Context& context) {
  const auto named = context.variable("TMPDIR");
  return named.empty() ? fs::path("/tmp") : fs::path(named);
}

void add_identity(const launch::Identity& identity, Recorder::Plan& plan) {
  if (!identity.launcher.empty()) plan.meta["launcher"] = identity.launcher;
  for (const auto& [key, value] : identity.details) plan.meta[key] = value;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

core::Result<RunPlace> choose_place(const Context& context, const RunRequest& request, const std::string& run_id,
                                    bool again) {
  const auto host = launch::sanitized_id(host_name());
  if (!request.out.empty()) return place_asked_for(request.out, host, again);
  const auto store = store_folder(request.settings);
  return place_by_default(store.value_or(fs::path()), temporary_folder(context), run_id, host);
}

core::Result<Recorder::Plan> plan_recording(const RunRequest& request, const RunPlace& place, const std::string& run_id,
                                            const launch::Identity& identity, const std::string& what) {
  auto backends = make_groups(request.settings, request.replay);
  if (!backends) return core::fail(backends.error());
  Recorder::Plan plan;
  plan.place = place;
  plan.backends = std::move(*backends);
  plan.sampling.interval = *request.settings.duration(core::setting("interval"));
  plan.sampling.seed = launch::random_number();
  plan.sampling.host = host_name();
  plan.sampling.live = wants_live(request);
  if (request.drill_down && !place.folder.empty()) plan.triggers.traces = place.folder / "traces";
  namespace meta = record::meta;
  plan.meta[std::string(meta::kRunId)] = run_id;
  plan.meta[std::string(meta::kHost)] = host_name();
  plan.meta[std::string(meta::kVersion)] = GRADWATT_VERSION;
  plan.meta[std::string(meta::kWhere)] = request.replay.empty() ? "live" : "replayed";
  plan.meta[std::string(meta::kFollows)] = what;
  if (!request.name.empty()) plan.meta[std::string(meta::kName)] = request.name;
  if (!request.command.empty()) plan.meta[std::string(meta::kCommand)] = launch::redact_command(request.command);
  for (const auto& [name, value] : launch::kept_environment(launch::current_environment()))
    plan.meta["env." + name] = value;
  add_identity(identity, plan);
  return plan;
}

core::Result<std::optional<LiveLine>> open_live_line(const Context& context, const RunRequest& request) {
  if (!wants_live(request)) return std::nullopt;
  auto line = LiveLine::open({.file = request.live_file,
                              .every = *request.settings.duration(core::setting("live_interval")),
                              .command_runs = !request.command.empty(),
                              .total_steps = request.settings.count(core::setting("steps"))},
                             context.clock.now());
  if (!line) return core::fail(line.error());
  return std::optional<LiveLine>(std::move(*line));
}

/// A name that is not there is said at the end and costs the training nothing.
void hold_against(Context& context, const RunRequest& request, const record::Run& run) {
  const auto now = energy::figures_of(run);
  if (!request.against.empty()) {
    const auto ref = resolve_run(request.settings, context.working_folder, request.against);
    const auto reference =
        ref ? load_run(context, *ref, diagnosis_columns()) : core::Result<record::Run>(core::fail(ref.error()));
    if (!reference)
      complain(context, "--against: " + reference.error().message);
    else if (const auto text = diagnosis::poor_scaling(energy::figures_of(*reference), now))
      complain(context, *text + "; gradwatt diagnose looks for the reason");
  }
  if (request.baseline.empty()) return;
  const auto folder = baseline_folder(request.settings);
  const auto baseline =
      folder ? load_baseline(*folder, request.baseline) : core::Result<diagnosis::Baseline>(core::fail(folder.error()));
  if (!baseline) return complain(context, "--baseline: " + baseline.error().message);
  for (const auto& figure : diagnosis::check(*baseline, diagnosis::baseline_of(run, "now")).figures)
    if (figure.worse)
      complain(context,
               fmt::format("{} is {:.0f} % {} than in baseline {}; gradwatt diagnose looks for the reason", figure.name,
                           std::abs(100 * figure.change), figure.change < 0 ? "lower" : "higher", baseline->name));
}

void conclude(Context& context, const RunRequest& request, const RunPlace& place, const Recorder::Finished& finished) {
  if (!place.note.empty()) complain(context, place.note);
  for (const auto& problem : finished.problems) complain(context, problem);
  if (!finished.run.meta.empty()) hold_against(context, request, finished.run);
  if (request.quiet || finished.run.meta.empty()) return;
  const auto options = summary_options(request.settings);
  const auto summary = energy::summarize(finished.run, options);
  const auto folder = finished.kept || !finished.run.complete() ? place.folder : fs::path();
  if (request.json) {
    context.out << report::to_json(finished.run, summary,
                                   {options.factors, top_trigger(finished.run, request.out.string()), folder.string()});
  } else {
    context.out << '\n';
    show_report(context, request.settings, finished.run, summary,
                {folder, request.out.string(), top_finding(finished.run, request.out.string())});
  }
  context.out.flush();
}

void leave_hanging_thread(Context& context, const Recorder::Finished& finished, int status) {
  if (!finished.thread_left_behind) return;
  context.out.flush();
  context.err.flush();
  std::_Exit(status);
}

}  // namespace gradwatt::app
