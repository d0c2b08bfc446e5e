#include "commands/table.hpp"

#include <algorithm>
#include <array>

namespace gradwatt::app {
namespace {

constexpr auto kCommands = std::to_array<Command>({
    {"run", "measure a command, a running process or the host, and report where the energy went", run_run},
    {"report", "print what a run used and how well it was measured: text, JSON or CSV", run_report},
    {"diagnose", "explain what holds a job back, what to change, and how to prove that it helped", run_diagnose},
    {"compare", "put two runs or groups of runs side by side: what changed, and how sure that is", run_compare},
    {"baseline", "keep a good run as the yardstick of later ones, and hold runs against it", run_baseline},
    {"import", "turn recordings of other tools into a run", run_import},
    {"plan", "plan the cheapest way to run a job: GPUs, batch, cap, hardware, deadline, budget; a job file", run_plan},
    {"train", "train a neural network data-parallel and report what it cost", run_train},
    {"simulate", "run a job on a cluster that may not exist and report what it would cost", run_simulate},
    {"runs", "list, show, name and remove the runs that are kept", run_runs},
    {"doctor", "say what can be measured on this machine, and what would allow more", run_doctor},
    {"config", "print each setting, its value and where the value comes from", run_config},
    {"completion", "print the completion script for a shell", run_completion},
    {"help", "list the verbs, or explain one", run_help},
});

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  const auto* row = std::ranges::find(kCommands, name, &Command::name);
  return row != kCommands.end() ? row : nullptr;
}

}  // namespace gradwatt::app
