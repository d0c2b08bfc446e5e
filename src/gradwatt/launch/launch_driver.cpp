// The launch part of `gradwatt run` and nothing else, for tests that need real processes and terminals:
//   launch_driver [--no-sentinel] [--grace-ms N] [--events FILE] [--report FILE] [--run-id ID --root FOLDER --expected
//   N] -- CMD…
// --events gets a line for each signal and stop while CMD runs; --report one line when all is done. With --run-id the
// drivers of one id meet below the folder, as gradwatts of one run do.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

#include "gradwatt/launch/command.hpp"
#include "gradwatt/launch/membership.hpp"
#include "gradwatt/launch/sentinel.hpp"
#include "gradwatt/launch/signal_inbox.hpp"
#include "gradwatt/launch/signal_table.hpp"
#include "gradwatt/launch/supervisor.hpp"

namespace gradwatt::launch {
namespace {

struct Arguments {
  bool sentinel = true;
  std::string events, report, run_id, root, expected = "1", grace_ms = "50";
  std::vector<std::string> command;
};

Arguments parse(int count, char** texts) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string text = texts[i];
    if (text == "--") {
      arguments.command.assign(texts + i + 1, texts + count);
      break;
    }
    if (text == "--no-sentinel") arguments.sentinel = false;
    if (text == "--grace-ms") arguments.grace_ms = texts[++i];
    if (text == "--events") arguments.events = texts[++i];
    if (text == "--report") arguments.report = texts[++i];
    if (text == "--run-id") arguments.run_id = texts[++i];
    if (text == "--root") arguments.root = texts[++i];
    if (text == "--expected") arguments.expected = texts[++i];
  }
  return arguments;
}

std::optional<Membership> join(const Arguments& arguments) {
  if (arguments.run_id.empty()) return std::nullopt;
  return Membership::join(arguments.run_id, {.roots = {arguments.root}, .expected = std::stoi(arguments.expected)})
      .value();
}

/// What the leader would keep, or how a member found its leader.
std::string part_of(Membership& membership, core::Clock& clock) {
  if (!membership.leads()) return fmt::format(" role=member leader_alive={}", membership.leader_alive());
  telemetry::JobScope scope;
  membership.wait_for_others(clock, {});
  membership.update(scope);
  const auto run_status = membership.run_exit_status();
  return fmt::format(" role=leader members={} gpus={} run_status={}", membership.members().size(),
                     fmt::join(scope.snapshot()->visible_gpus, "|"),
                     run_status ? std::to_string(*run_status) : "unknown");
}

int run(const Arguments& arguments) {
  core::SystemClock clock;
  SignalInbox inbox(supervised_signals());
  std::optional<Sentinel> sentinel;
  if (arguments.sentinel) sentinel = Sentinel::start().value();
  auto membership = join(arguments);
  const auto environment = current_environment();
  const auto command = Command::start({arguments.command, environment, inbox.before()}, clock);
  if (!command) {
    fmt::print(stderr, "{}\n", command.error().message);
    return start_failure_status(command.error());
  }
  if (membership) {
    const auto gpus = find_variable(environment, "CUDA_VISIBLE_DEVICES");
    membership->command_started(command->pid(), gpus ? std::optional<std::string>(*gpus) : std::nullopt);
  }
  std::ofstream events(arguments.events);
  Supervisor::Options options;
  options.grace = std::chrono::milliseconds(std::stoi(arguments.grace_ms));
  options.on_event = [&](std::string_view kind, const std::string& text) {
    events << kind << ": " << text << '\n' << std::flush;
  };
  Supervisor supervisor(*command, inbox, sentinel ? &*sentinel : nullptr, clock, options);
  events << "started " << command->pid() << '\n' << std::flush;
  const auto outcome = supervisor.wait();
  if (membership) membership->command_ended(outcome.exit_status, outcome.ended);
  const auto part = membership ? part_of(*membership, clock) : std::string();
  if (!arguments.report.empty())
    std::ofstream(arguments.report) << fmt::format("status={} signal={} orphans={}{}\n", outcome.exit_status,
                                                   outcome.signal.value_or(0), outcome.orphans_reaped, part);
  return outcome.exit_status;
}

}  // namespace
}  // namespace gradwatt::launch

int main(int count, char** texts) { return gradwatt::launch::run(gradwatt::launch::parse(count, texts)); }
