// The launch part of `gradwatt run` and nothing else, for tests that need real processes and terminals:
//   launch_driver [--no-sentinel] [--events FILE] [--report FILE] -- CMD…
// --events gets a line for each signal and stop while CMD runs; --report one line when all is done.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "gradwatt/launch/command.hpp"
#include "gradwatt/launch/sentinel.hpp"
#include "gradwatt/launch/signal_inbox.hpp"
#include "gradwatt/launch/signal_table.hpp"
#include "gradwatt/launch/supervisor.hpp"

namespace gradwatt::launch {
namespace {

struct Arguments {
  bool sentinel = true;
  std::string events, report;
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
    if (text == "--events") arguments.events = texts[++i];
    if (text == "--report") arguments.report = texts[++i];
  }
  return arguments;
}

int run(const Arguments& arguments) {
  const core::SystemClock clock;
  SignalInbox inbox(supervised_signals());
  std::optional<Sentinel> sentinel;
  if (arguments.sentinel) sentinel = Sentinel::start().value();
  const auto command = Command::start({arguments.command, current_environment(), inbox.before()}, clock);
  if (!command) {
    fmt::print(stderr, "{}\n", command.error().message);
    return start_failure_status(command.error());
  }
  std::ofstream events(arguments.events);
  Supervisor::Options options;
  options.on_event = [&](std::string_view kind, const std::string& text) {
    events << kind << ": " << text << std::endl;
  };
  Supervisor supervisor(*command, inbox, sentinel ? &*sentinel : nullptr, clock, options);
  events << "started " << command->pid() << std::endl;
  const auto outcome = supervisor.wait();
  if (!arguments.report.empty())
    std::ofstream(arguments.report) << fmt::format("status={} signal={} orphans={}\n", outcome.exit_status,
                                                   outcome.signal.value_or(0), outcome.orphans_reaped);
  return outcome.exit_status;
}

}  // namespace
}  // namespace gradwatt::launch

int main(int count, char** texts) { return gradwatt::launch::run(gradwatt::launch::parse(count, texts)); }
