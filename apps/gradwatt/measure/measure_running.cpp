#include <fmt/format.h>
#include <unistd.h>

#include "gradwatt/launch/attach.hpp"
#include "gradwatt/launch/identity.hpp"
#include "gradwatt/launch/redact.hpp"
#include "gradwatt/launch/signal_table.hpp"
#include "measure/conclusion.hpp"
#include "measure/measure.hpp"
#include "wiring.hpp"

namespace gradwatt::app {
namespace {

void set_scope(const RunRequest& request, telemetry::JobScope& job) {
  if (request.whole_node) job.update([](auto& scope) { scope.whole_host = true; });
  if (request.pid) launch::follow_tree(launch::find_gpus(core::FileTree(), *request.pid), *request.pid, job);
  if (request.gpus) job.update([&](auto& scope) { scope.visible_gpus = {*request.gpus}, scope.all_gpus = false; });
}

}  // namespace

core::Result<int> measure_running(Context& context, const RunRequest& request) {
  if (request.gpus)
    if (auto known = check_gpus(request.settings, *request.gpus); !known) return core::fail(known.error());
  std::optional<launch::Attached> attached;
  if (request.pid) {
    auto opened = launch::Attached::open(core::FileTree(), *request.pid);
    if (!opened) {
      // A pid that does not exist is a mistake of the command line.
      const auto code = opened.error().code == core::Errc::not_found ? core::Errc::wrong_use : opened.error().code;
      return core::fail(code, "run: " + opened.error().message);
    }
    attached.emplace(std::move(*opened));
  }
  launch::SignalInbox inbox(launch::ending_signals());
  telemetry::JobScope job;
  set_scope(request, job);
  const auto run_id = launch::new_run_id(context.clock.wall_now(), launch::random_number());
  const auto place = choose_place(context, request, run_id, false);
  if (!place) return core::fail(place.error());
  auto plan = plan_recording(request, *place, run_id, {}, request.pid ? "pid" : "node");
  if (!plan) return core::fail(plan.error());
  if (attached) plan->meta[std::string(record::meta::kCommand)] = launch::redact_command(attached->command_line());
  if (!request.quiet) plan->triggers.say = [&](const std::string& text) { complain(context, text); };
  auto live = open_live_line(context, request);
  if (!live) return core::fail(live.error());
  plan->each_second = [&](const Recorder& recorder) {
    if (*live) (*live)->draw(recorder, context.clock.now());
  };
  Recorder recorder(context.clock, job, std::move(*plan));
  recorder.start();
  const auto begin = context.clock.now();
  recorder.job_began(begin);
  std::optional<core::Instant> deadline;
  if (request.length) deadline = begin + *request.length;
  // A scan of all of /proc, and a training opens its GPUs once: now and then is enough.
  const auto follow = [&, second = 0]() mutable {
    if (request.pid && !request.gpus && ++second % 10 == 0)
      launch::follow_tree(launch::find_gpus(core::FileTree(), *request.pid), *request.pid, job);
  };
  const auto why = launch::wait_for_end(attached ? &*attached : nullptr, inbox, deadline, follow);
  if (why == launch::EndOfMeasurement::interrupted) recorder.event("signal", "the measurement was ended by a signal");
  const auto finished = recorder.finish(context.clock.now(), std::nullopt);
  live->reset();
  conclude(context, request, *place, finished);
  leave_hanging_thread(context, finished, 0);
  return 0;
}

}  // namespace gradwatt::app
