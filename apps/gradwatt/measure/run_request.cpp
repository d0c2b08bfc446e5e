#include "measure/run_request.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/core/text.hpp"
#include "run_store.hpp"

namespace gradwatt::app {
namespace {

constexpr const char* kUsage = "gradwatt run [options] -- COMMAND …";

struct Typed {
  std::string pid, length, out, name, gpus, format, replay, live_file, against, baseline;
  bool node = false, json = false, quiet = false, drill_down = false;
};

void declare(Options& options, Typed& typed) {
  auto& app = options.app();
  app.add_option("--out", typed.out, "run folder to make (default: a new folder in the run store)");
  app.add_option("--name", typed.name, "a name for the run, for later commands");
  app.add_option("--pid", typed.pid, "measure this process and its descendants, which run already");
  app.add_flag("--node", typed.node, "measure the whole host");
  app.add_option("--for", typed.length, "with --pid or --node: how long, e.g. 60s");
  app.add_option("--gpus", typed.gpus, "only these GPUs: indices, UUIDs or MIG ids, comma-separated");
  app.add_option("--replay", typed.replay, "read this run record instead of the machine's sensors");
  app.add_option("--against", typed.against,
                 "a run of the same job on fewer GPUs: say so when more of them gain little");
  app.add_option("--baseline", typed.baseline, "say so when this run is more than 20 % worse than that baseline");
  app.add_flag("--drill-down", typed.drill_down,
               "when something stands out, take a profiler trace of a few steps and analyse it");
  app.add_option("--format", typed.format, "of the report at the end: text or json");
  app.add_flag("--json", typed.json, "the same as --format json");
  app.add_flag("--quiet", typed.quiet, "no report at the end");
  options.add_setting(core::setting("interval"), "--interval,-i");
  options.add_setting(core::setting("agent"), "--no-agent", "off");
  options.add_setting(core::setting("live"), "--live");
  app.add_option("--live-file", typed.live_file, "write the status lines into this file");
  options.add_setting(core::setting("live_interval"), "--live-interval");
  options.add_setting(core::setting("wait_sensors"), "--wait-sensors");
  options.add_setting(core::setting("steps"), "--steps");
  options.add_setting(core::setting("epochs"), "--epochs");
  options.add_setting(core::setting("sensors.include"), "--sensors");
  options.add_setting(core::setting("sensors.exclude"), "--without");
  for (const auto& [id, name] :
       {std::pair{core::setting("pue"), "--pue"}, std::pair{core::setting("price_per_kwh"), "--price-per-kwh"},
        std::pair{core::setting("currency"), "--currency"},
        std::pair{core::setting("co2_g_per_kwh"), "--co2-g-per-kwh"}})
    options.add_setting(id, name);
}

core::Result<void> take_target(const Typed& typed, RunRequest& request) {
  const int targets = (request.command.empty() ? 0 : 1) + (typed.pid.empty() ? 0 : 1) + (typed.node ? 1 : 0);
  if (targets == 0)
    return core::fail(core::Errc::wrong_use, fmt::format("run: no command to measure after --; write {}", kUsage));
  if (targets > 1) return core::fail(core::Errc::wrong_use, "run: a command, --pid and --node exclude each other");
  if (!typed.pid.empty()) {
    const auto pid = core::parse_int(typed.pid);
    if (!pid || *pid < 1 || *pid > 4'194'304)
      return core::fail(core::Errc::wrong_use, fmt::format("run: --pid wants a process id, not '{}'", typed.pid));
    request.pid = static_cast<pid_t>(*pid);
  }
  request.whole_node = typed.node;
  return {};
}

core::Result<void> take_length(const Typed& typed, RunRequest& request) {
  if (typed.length.empty()) {
    if (request.whole_node)
      return core::fail(core::Errc::wrong_use, "run: --node needs --for, e.g. gradwatt run --node --for 60s");
    return {};
  }
  if (!request.command.empty())
    return core::fail(core::Errc::wrong_use, "run: --for goes with --pid or --node; a command is measured to its end");
  request.length = core::parse_duration(typed.length);
  if (!request.length || *request.length <= core::Duration{0})
    return core::fail(core::Errc::wrong_use,
                      fmt::format("run: --for wants a time above 0 such as 60s or 5m, not '{}'", typed.length));
  return {};
}

core::Result<void> take_rest(const Typed& typed, const Context& context, RunRequest& request) {
  constexpr std::array<std::string_view, 2> kFormats{"text", "json"};
  if (!typed.format.empty())
    if (auto known = expect_one_of("format", typed.format, kFormats); !known) return known;
  request.json = typed.json || typed.format == "json";
  request.quiet = typed.quiet;
  request.drill_down = typed.drill_down;
  request.against = typed.against;
  request.baseline = typed.baseline;
  if (!typed.out.empty()) request.out = context.working_folder / typed.out;
  if (!typed.live_file.empty()) request.live_file = context.working_folder / typed.live_file;
  if (!typed.replay.empty()) request.replay = context.working_folder / typed.replay;
  if (!typed.name.empty())
    if (auto good = check_name(typed.name); !good) return good;
  request.name = typed.name;
  if (!typed.gpus.empty()) request.gpus = typed.gpus;
  return {};
}

}  // namespace

bool wants_live(const RunRequest& request) {
  return request.settings.flag(core::setting("live")) || !request.live_file.empty();
}

core::Result<std::optional<RunRequest>> parse_run_request(Context& context, Arguments arguments) {
  Options options(
      context, "run",
      "Measures a command from start to end, without touching its code, and reports where the energy went.");
  Typed typed;
  declare(options, typed);
  options.app().footer(
      "gradwatt run -- torchrun --nproc-per-node 8 train.py     measures a job from start to end\n"
      "gradwatt run --pid 4711 --for 60s                        measures one that runs already\n"
      "gradwatt run --node --for 60s                            measures the host\n"
      "The exit status is the command's own (128 + n after signal n); 2 for wrong use.");
  const auto dashes = std::ranges::find(arguments, std::string("--"));
  const auto own = arguments.first(static_cast<std::size_t>(dashes - arguments.begin()));
  // Without "--" a command that was written all the same would be taken for an unknown option.
  const bool forgot_dashes = dashes == arguments.end() && !own.empty() && !own[0].starts_with('-');
  if (forgot_dashes)
    return core::fail(core::Errc::wrong_use,
                      fmt::format("run: put -- before the command: gradwatt run -- {} …", own[0]));
  const auto parsed = options.parse(own);
  if (!parsed) return core::fail(parsed.error());
  if (*parsed == Options::Parsed::done) return std::nullopt;
  auto settings = options.settings();
  if (!settings) return core::fail(settings.error());
  RunRequest request{.settings = std::move(*settings)};
  if (dashes != arguments.end()) request.command.assign(dashes + 1, arguments.end());
  for (const auto& step :
       {take_target(typed, request), take_length(typed, request), take_rest(typed, context, request)})
    if (!step) return core::fail(step.error());
  return request;
}

}  // namespace gradwatt::app
