#include "simulate_verb.hpp"

#include <fmt/format.h>

#include <ostream>

#include "gradwatt/core/text.hpp"
#include "gradwatt/launch/identity.hpp"
#include "gradwatt/planning/cluster/cluster_file.hpp"
#include "gradwatt/record/store.hpp"
#include "gradwatt/report/json.hpp"
#include "gradwatt/simulation/run_record.hpp"
#include "measure/run_place.hpp"
#include "run_ref.hpp"
#include "run_store.hpp"
#include "show_report.hpp"
#include "wish_to_request.hpp"

namespace gradwatt::app {
namespace {

namespace fs = std::filesystem;

core::Result<Prepared> read_and_prepare(Context& context, const core::Settings& settings, const SimulateWish& wish) {
  auto cluster = planning::load_cluster(context.working_folder / wish.cluster);
  if (!cluster) return core::fail(cluster.error().code, "simulate: " + cluster.error().message);
  if (wish.from.empty()) return prepare(wish, std::move(*cluster), nullptr);
  const auto ref = resolve_run(settings, context.working_folder, wish.from);
  if (!ref) return core::fail(ref.error());
  const auto run = load_run(context, *ref, {.metrics = std::vector<record::MetricId>{}});
  if (!run) return core::fail(run.error());
  return prepare(wish, std::move(*cluster), &*run);
}

core::Result<RunPlace> choose_place(const Context& context, const core::Settings& settings, const SimulateWish& wish,
                                    const std::string& run_id) {
  const std::string file = "simulated";
  if (!wish.out.empty()) return place_asked_for((context.working_folder / wish.out).lexically_normal(), file, false);
  const auto store = store_folder(settings);
  const auto temporary = context.variable("TMPDIR");
  return place_by_default(store ? *store : fs::path(), temporary.empty() ? "/tmp" : temporary, run_id, file);
}

std::string command_of(Arguments arguments) {
  std::string command = "gradwatt simulate";
  for (const auto& word : arguments) command += " " + word;
  return command;
}

std::string what_was_simulated(const simulation::Request& request, const simulation::Outcome& outcome) {
  const auto& shape = request.cluster.shape();
  const auto repeated = outcome.step_count() - outcome.simulated_steps;
  return fmt::format("{}: {} nodes with {} GPUs each, {}; {} of {} steps simulated{}, {} messages between nodes",
                     request.cluster.name, shape.nodes, shape.gpus_per_node,
                     simulation::name_of(request.job.strategy.kind), outcome.simulated_steps, outcome.step_count(),
                     repeated > 0 ? ", the others repeat them" : "", outcome.messages);
}

void print(Context& context, const core::Settings& settings, const SimulateWish& wish, const Prepared& prepared,
           const simulation::Outcome& outcome, const record::Run& run, const RunPlace& place) {
  const auto options = summary_options(settings);
  const auto summary = energy::summarize(run, options);
  if (wish.json) {
    context.out << report::to_json(run, summary, {options.factors, top_trigger(run, wish.out), place.folder.string()});
    return;
  }
  context.out << "gradwatt: " << what_was_simulated(prepared.request, outcome) << '\n';
  for (const auto& note : prepared.notes) context.out << "gradwatt: assumed: " << note << '\n';
  show_report(context, settings, run, summary, {place.folder, wish.out});
}

}  // namespace

core::Result<int> simulate_verb(Context& context, Arguments arguments) {
  SimulateWish wish;
  const auto parsed = parse_simulate(context, arguments, wish);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return 0;
  if (!wish.name.empty())
    if (auto good = check_name(wish.name); !good) return core::fail(good.error());
  const auto settings = load_settings(context);
  if (!settings) return core::fail(settings.error());
  const auto prepared = read_and_prepare(context, *settings, wish);
  if (!prepared) return core::fail(prepared.error());
  const auto now = context.clock.wall_now();
  const auto run_id = launch::new_run_id(now, launch::random_number());
  const auto outcome = simulation::simulate(prepared->request);
  if (!outcome) return core::fail(outcome.error().code, "simulate: " + outcome.error().message);
  const auto run = simulation::run_record_of(prepared->request, *outcome,
                                             {.run_id = run_id,
                                              .name = wish.name,
                                              .command = command_of(arguments),
                                              .version = GRADWATT_VERSION,
                                              .source = wish.from,
                                              .model = prepared->model,
                                              .local_batch = prepared->local_batch,
                                              .wall_ns = now.time_since_epoch().count()});
  const auto place = choose_place(context, *settings, wish, run_id);
  if (!place) return core::fail(place.error());
  if (!place->note.empty()) complain(context, place->note);
  if (!place->file.empty())
    if (auto saved = record::save(run, place->file); !saved) return core::fail(saved.error());
  if (!wish.quiet) print(context, *settings, wish, *prepared, *outcome, run, *place);
  context.out.flush();
  return 0;
}

}  // namespace gradwatt::app
