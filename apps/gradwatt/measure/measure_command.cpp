#include <fmt/format.h>
#include <unistd.h>

#include <ostream>

#include "gradwatt/launch/command.hpp"
#include "gradwatt/launch/identity.hpp"
#include "gradwatt/launch/impatience.hpp"
#include "gradwatt/launch/membership.hpp"
#include "gradwatt/launch/sentinel.hpp"
#include "gradwatt/launch/signal_table.hpp"
#include "gradwatt/launch/supervisor.hpp"
#include "measure/conclusion.hpp"
#include "measure/measure.hpp"
#include "measure/python_agent.hpp"
#include "wiring.hpp"

namespace gradwatt::app {
namespace {

using namespace std::chrono_literals;

/// Sources that are there answer within this; --wait-sensors waits no longer.
constexpr auto kFirstReadingPatience = 10s;

/// All that belongs to one measured command. Signals are taken over before the first thread starts.
struct Session {
  Session(Context& context_in, const RunRequest& request_in)
      : context(context_in),
        request(request_in),
        inbox(launch::supervised_signals()),
        environment(launch::current_environment()),
        identity(launch::identify(environment, core::FileTree(), ::getppid())),
        run_id(launch::run_id_of(identity, context.clock.wall_now(), launch::random_number())) {
    if (auto started = launch::Sentinel::start()) sentinel.emplace(std::move(*started));
    auto joined = launch::Membership::join(run_id, {.expected = identity.local_world_size});
    if (joined) {
      membership.emplace(std::move(*joined));
    } else {
      complain(context, joined.error().message + "; the job's own marks are not read");
    }
  }

  [[nodiscard]] bool leads() const { return !membership || membership->leads(); }
  [[nodiscard]] std::filesystem::path marks() const {
    return membership ? membership->marks_folder() : std::filesystem::path();
  }
  /// What the job may see: --gpus, else CMD's own CUDA_VISIBLE_DEVICES.
  [[nodiscard]] std::optional<std::string> visible_gpus() const {
    if (request.gpus) return request.gpus;
    if (const auto value = launch::find_variable(environment, "CUDA_VISIBLE_DEVICES")) return std::string(*value);
    return std::nullopt;
  }
  void limit_gpus() {
    if (const auto visible = visible_gpus())
      job.update([&](auto& scope) { scope.visible_gpus = {*visible}, scope.all_gpus = false; });
  }

  core::Result<launch::Command> start_command() {
    std::error_code no_proc;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", no_proc);
    const auto changes =
        agent_environment(python_folder(program), marks(), request.settings.flag(core::setting("agent")));
    auto command = launch::Command::start({.arguments = request.command,
                                           .environment = launch::with_changes(environment, changes),
                                           .signals = inbox.before()},
                                          context.clock);
    if (!command) return command;
    if (membership) {
      membership->command_started(command->pid(), visible_gpus());
      if (leads()) membership->update(job);
    } else {
      job.update([&](auto& scope) { scope.roots = {command->pid()}; });
    }
    return command;
  }

  launch::Outcome supervise(const launch::Command& command,
                            std::function<void(std::string_view, std::string)> on_event) {
    launch::Supervisor supervisor(command, inbox, sentinel ? &*sentinel : nullptr, context.clock,
                                  {.on_event = std::move(on_event)});
    auto outcome = supervisor.wait();
    if (membership) membership->command_ended(outcome.exit_status, outcome.ended);
    return outcome;
  }

  int start_failed(const core::Error& error) {
    complain(context, error.message);
    if (membership) membership->command_ended(launch::start_failure_status(error), context.clock.now());
    return launch::start_failure_status(error);
  }

  Context& context;
  const RunRequest& request;
  launch::SignalInbox inbox;
  launch::Environment environment;
  launch::Identity identity;
  std::string run_id;
  std::optional<launch::Sentinel> sentinel;
  std::optional<launch::Membership> membership;
  telemetry::JobScope job;
};

/// Another gradwatt of the same launch samples and writes: only CMD is run and its status passed on.
int follow_leader(Session& session) {
  auto command = session.start_command();
  if (!command) return session.start_failed(command.error());
  const auto outcome = session.supervise(*command, [](std::string_view, const std::string&) {});
  if (!session.membership->leader_alive())
    complain(session.context, "the gradwatt that recorded this run was killed; the record ends there");
  return outcome.exit_status;
}

/// CMD could not be started: nothing was measured, so nothing is kept.
int give_back_place(Session& session, const RunPlace& place, Recorder* recorder, const core::Error& error) {
  const int status = session.start_failed(error);
  if (recorder != nullptr) (void)recorder->finish(session.context.clock.now(), status);
  std::error_code ignored;
  if (!place.file.empty()) std::filesystem::remove(place.file, ignored);
  std::filesystem::remove(place.folder, ignored);  // only when empty
  return status;
}

core::Result<int> lead(Session& session) {
  const auto place =
      choose_place(session.context, session.request, session.run_id, session.identity.shared_run_id.has_value());
  if (!place) return core::fail(place.error());
  auto plan = plan_recording(session.request, *place, session.run_id, session.identity, "command");
  if (!plan) return core::fail(plan.error());
  plan->marks_folder = session.marks();
  if (!session.request.quiet) plan->triggers.say = [&](const std::string& text) { complain(session.context, text); };
  auto live = open_live_line(session.context, session.request);
  if (!live) return core::fail(live.error());
  plan->each_second = [&](const Recorder& recorder) {
    if (session.membership) session.membership->update(session.job);
    if (*live) (*live)->draw(recorder, session.context.clock.now());
  };
  session.limit_gpus();
  Recorder recorder(session.context.clock, session.job, std::move(*plan));
  const bool wait = session.request.settings.flag(core::setting("wait_sensors"));
  if (wait) {
    recorder.start();
    recorder.wait_for_first_readings(kFirstReadingPatience);
  }
  auto command = session.start_command();
  if (!command) return give_back_place(session, *place, wait ? &recorder : nullptr, command.error());
  if (!wait) recorder.start();
  recorder.job_began(command->started());
  const auto outcome = session.supervise(
      *command, [&](std::string_view kind, std::string text) { recorder.event(std::string(kind), std::move(text)); });

  // From here on only the report is left: one Ctrl-C does not cost it, three in a row do.
  const launch::Impatience impatience(session.inbox, [status = outcome.exit_status] { std::_Exit(status); });
  auto end = outcome.ended;
  std::optional<int> run_status = outcome.exit_status;
  if (session.membership) {
    session.membership->wait_for_others(session.context.clock, {});
    run_status = session.membership->run_exit_status();
    for (const auto& member : session.membership->members())
      if (member.exit_status) end = std::max(end, member.ended);
  }
  const auto finished = recorder.finish(end, run_status);
  if (session.membership) session.membership->leave();
  live->reset();
  conclude(session.context, session.request, *place, finished);
  leave_hanging_thread(session.context, finished, outcome.exit_status);
  return outcome.exit_status;
}

}  // namespace

core::Result<int> measure_command(Context& context, const RunRequest& request) {
  if (request.gpus)
    if (auto known = check_gpus(request.settings, *request.gpus); !known) return core::fail(known.error());
  Session session(context, request);
  if (!session.leads()) return follow_leader(session);
  return lead(session);
}

}  // namespace gradwatt::app
