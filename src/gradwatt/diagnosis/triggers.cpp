#include "gradwatt/diagnosis/triggers.hpp"

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/trigger_functions.hpp"

namespace gradwatt::diagnosis {
namespace {

// Among equal ones the earlier row stands first.
constexpr auto kTriggers = std::to_array<TriggerInfo>({
    {"held-power-brake", 0.1, "% of time", "the external power brake held the clocks",
     "any use of the brake is a supply or rack event; 0.1 % leaves out a single stray reading", look_held_power_brake},
    {"busy-low-power", 60, "% of the enforced limit", "busy over 90 % with power below the threshold for 30 s",
     "articles: utilisation over 90 % with power under 60 % of the limit", look_busy_low_power},
    {"held-thermal", 2, "% of time", "thermal slowdown held the clocks",
     "own choice: below it the loss is within what a comparison of runs can show", look_held_thermal},
    {"input-wait", 20, "% of step time", "steps wait for input longer than the threshold",
     "own choice: a fifth of the step is worth more than most other fixes", look_input_wait},
    {"rank-skew", 10, "% of step time", "steps of one rank take longer than those of another",
     "own choice: twice the spread between ranks that is called imbalance on equal GPUs", look_rank_skew},
    {"gpu-idle", 60, "s", "a GPU that had been busy stood idle for longer than the threshold",
     "own choice: longer than a usual evaluation or checkpoint", look_gpu_idle},
    {"io-pressure", 20, "% of time", "some thread waited for storage",
     "own choice: with fewer waits data loading can still run ahead", look_io_pressure},
    {"memory-pressure", 10, "% of time", "some thread waited for memory",
     "own choice: a host with enough memory shows next to none", look_memory_pressure},
    {"limit-lowered", 1, "% below the one asked for", "the power limit in force is below the one asked for",
     "own choice: rounding of limits stays under it", look_limit_lowered},
});

}  // namespace

std::span<const TriggerInfo> trigger_table() { return kTriggers; }

std::vector<Trigger> evaluate(const record::Run& run, energy::Window window) {
  std::vector<Trigger> out;
  for (const auto& row : kTriggers)
    if (auto trigger = row.look(run, window, row)) out.push_back(std::move(*trigger));
  std::ranges::stable_sort(out, [](const Trigger& a, const Trigger& b) {
    return a.severity != b.severity ? a.severity > b.severity : a.time_share > b.time_share;
  });
  return out;
}

std::vector<Trigger> evaluate(const record::Run& run) {
  const auto job = energy::job_window(run);
  return job ? evaluate(run, *job) : std::vector<Trigger>{};
}

std::vector<record::MetricId> columns_for_triggers() {
  auto out = columns_for_gpu_triggers();
  for (const auto id : columns_for_job_triggers()) out.push_back(id);
  return out;
}

}  // namespace gradwatt::diagnosis
