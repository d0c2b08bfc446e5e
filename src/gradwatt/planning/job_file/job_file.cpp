#include "gradwatt/planning/job_file/job_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradwatt/core/shell.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/planning/job_file/check_job_file.hpp"

namespace gradwatt::planning {
namespace {

using core::Errc;
using core::fail;
using std::chrono::seconds;

/// Slurm's own bound for the seconds of --signal.
constexpr seconds kLongestLead{65535};
/// Slurm may send the signal that much early, never late.
constexpr seconds kLeastCheckpoint{120};

core::Result<JobShape> spread(const JobFile& job) {
  const auto& node = job.node;
  if (job.total_gpus < 1)
    return fail(Errc::wrong_use, fmt::format("{} GPUs are no job; ask for one or more", job.total_gpus));
  if (node.gpus < 1 || node.cores < 1)
    return fail(Errc::wrong_use,
                fmt::format("a node of {} GPUs and {} cores is none; state what one node has", node.gpus, node.cores));
  JobShape shape;
  shape.gpus_per_node = std::min(job.total_gpus, node.gpus);
  shape.nodes = (job.total_gpus + node.gpus - 1) / node.gpus;
  if (job.total_gpus % shape.gpus_per_node != 0) {
    const int below = job.total_gpus / node.gpus * node.gpus;
    return fail(Errc::wrong_use, fmt::format("{} GPUs do not fill nodes of {}; take {} or {}", job.total_gpus,
                                             node.gpus, below, below + node.gpus));
  }
  if (node.most_nodes && shape.nodes > *node.most_nodes)
    return fail(Errc::wrong_use,
                fmt::format("{} GPUs need {} nodes of {}, and a job may have {}; take at most {} GPUs", job.total_gpus,
                            shape.nodes, node.gpus, *node.most_nodes, *node.most_nodes * node.gpus));
  const int cores_per_gpu = node.cores / node.gpus;
  if (cores_per_gpu < 1)
    return fail(Errc::wrong_use, fmt::format("{} cores do not give each of {} GPUs one; state fewer GPUs a node",
                                             node.cores, node.gpus));
  const bool launcher = job.rank_start == RankStart::per_node;
  shape.tasks_per_node = launcher ? 1 : shape.gpus_per_node;
  shape.cpus_per_task = launcher ? cores_per_gpu * shape.gpus_per_node : cores_per_gpu;
  return shape;
}

core::Result<void> set_times(const JobFile& job, JobShape& shape) {
  if (job.predicted_p95 <= seconds{0})
    return fail(Errc::unusable_input, "the job's time is not predicted; a job file needs it for its time limit");
  if (!(job.margin_share >= 0)) return fail(Errc::wrong_use, "a margin below zero would end the job early");
  const double share = std::ceil(job.margin_share * static_cast<double>(job.predicted_p95.count()));
  const auto margin = std::max(job.least_margin, seconds{static_cast<std::int64_t>(share)});
  shape.signal_lead = std::max(job.checkpoint, kLeastCheckpoint) + std::max(job.restore, seconds{0});
  if (shape.signal_lead > kLongestLead)
    return fail(Errc::wrong_use,
                fmt::format("Slurm signals at most {} s before the end, and checkpoint and restore need {} s",
                            kLongestLead.count(), shape.signal_lead.count()));
  const auto whole_minutes =
      std::chrono::ceil<std::chrono::minutes>(job.predicted_p95 + std::max(margin, shape.signal_lead));
  shape.time = whole_minutes;
  if (job.node.longest_job && shape.time > *job.node.longest_job)
    return fail(
        Errc::wrong_use,
        fmt::format("the job needs {} (p95 {} and margin), and the partition allows {}; take more GPUs, or split it "
                    "at checkpoints",
                    core::format_duration(shape.time), core::format_duration(job.predicted_p95),
                    core::format_duration(*job.node.longest_job)));
  return {};
}

/// 1-02:03:00
std::string slurm_time(seconds time) {
  const auto s = time.count();
  const auto days = s / 86400;
  const auto rest = fmt::format("{:02}:{:02}:{:02}", s / 3600 % 24, s / 60 % 60, s % 60);
  return days > 0 ? fmt::format("{}-{}", days, rest) : rest;
}

class Script {
 public:
  void line(std::string_view text = "") { text_.append(text).append("\n"); }
  void directive(std::string_view option, std::string_view value) {
    if (!value.empty()) line(fmt::format("#SBATCH --{}={}", option, value));
  }
  void directive(std::string_view option, int value) { directive(option, std::to_string(value)); }
  void comment(std::string_view text) {
    core::for_each_line(text, [&](std::string_view piece) { line(fmt::format("# {}", piece)); });
  }
  void variable(std::string_view name, std::string_view value) {
    line(fmt::format("export {}={}", name, core::shell_quote(value)));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

struct SettingRow {
  std::string_view placeholder, variable;
  std::optional<int> RunSettings::*value;
};
constexpr SettingRow kSettings[] = {{"{local_batch}", "GW_LOCAL_BATCH", &RunSettings::local_batch},
                                    {"{accumulation}", "GW_ACCUMULATION", &RunSettings::accumulation},
                                    {"{workers}", "GW_LOADER_WORKERS", &RunSettings::workers},
                                    {"{seed}", "GW_SEED", &RunSettings::seed}};

core::Result<std::string> filled_in(std::string word, const RunSettings& settings) {
  for (const auto& row : kSettings)
    for (auto at = word.find(row.placeholder); at != std::string::npos; at = word.find(row.placeholder)) {
      const auto& value = settings.*row.value;
      if (!value)
        return fail(Errc::wrong_use,
                    fmt::format("the command asks for {}, which the plan does not set", row.placeholder));
      word.replace(at, row.placeholder.size(), std::to_string(*value));
    }
  return word;
}

core::Result<std::string> start_line(const JobFile& job, const JobShape& shape) {
  // Since Slurm 22.05 srun no longer takes the batch job's CPUs of a task over; a rank that dies ends the others, which
  // would wait for it in their next collective until the time is up.
  auto line = fmt::format("srun --cpus-per-task={} --kill-on-bad-exit=1 {} run", shape.cpus_per_task,
                          core::shell_quote(job.gradwatt));
  for (const auto& option : job.run_options) line += ' ' + core::shell_quote(option);
  line += " --";
  for (const auto& word : job.command) {
    auto filled = filled_in(word, job.settings);
    if (!filled) return filled;
    line += ' ' + core::shell_quote(*filled);
  }
  return line;
}

void write_directives(const JobFile& job, const JobShape& shape, Script& script) {
  script.directive("job-name", job.name);
  script.directive("partition", job.partition);
  script.directive("account", job.account);
  script.directive("constraint", job.constraint);
  script.directive("nodes", shape.nodes);
  script.directive("ntasks-per-node", shape.tasks_per_node);
  script.directive("gpus-per-node", shape.gpus_per_node);
  script.directive("cpus-per-task", shape.cpus_per_task);
  if (job.exclusive) {
    script.line("#SBATCH --exclusive");
    script.directive("mem", "0");  // an exclusive job owns the CPUs and GPUs of its nodes, not their memory
  } else if (job.memory_gb) {
    script.directive("mem", fmt::format("{}G", *job.memory_gb));
  }
  script.directive("time", slurm_time(shape.time));
  script.directive("signal", fmt::format("{}@{}", job.signal, shape.signal_lead.count()));
  if (const auto* clock = std::get_if<GpuClock>(&job.power)) script.directive("gpu-freq", clock->frequency);
  if (const auto* cap = std::get_if<SiteCap>(&job.power))
    script.line(fmt::format("#SBATCH {}={}", cap->flag, cap->watts));
  if (job.energy_interval_s) script.directive("acctg-freq", fmt::format("energy={}", *job.energy_interval_s));
  if (!job.plan_id.empty()) script.directive("comment", "gradwatt-plan:" + job.plan_id);
}

/// What the figures of such a job do not say, where that is easily missed.
void write_cautions(const JobFile& job, const JobShape& shape, Script& script) {
  if (job.exclusive && shape.gpus_per_node < job.node.gpus)
    script.comment(
        fmt::format("An exclusive job holds all {} GPUs of its node: {} of them idle, and count in the node's energy.",
                    job.node.gpus, job.node.gpus - shape.gpus_per_node));
  if (!job.exclusive && job.energy_interval_s)
    script.comment("On a shared node Slurm's ConsumedEnergy is of all jobs there; gradwatt's figures are of this one.");
}

}  // namespace

core::Result<JobShape> shape_of(const JobFile& job) {
  auto shape = spread(job);
  if (!shape) return shape;
  if (auto ok = set_times(job, *shape); !ok) return fail(std::move(ok).error());
  if (auto ok = check_settings(job, *shape); !ok) return fail(std::move(ok).error());
  return shape;
}

core::Result<std::string> slurm_script(const JobFile& job) {
  if (auto ok = check_texts(job); !ok) return fail(std::move(ok).error());
  const auto shape = shape_of(job);
  if (!shape) return fail(shape.error());
  const auto start = start_line(job, *shape);
  if (!start) return start;
  Script script;
  script.line("#!/bin/bash");
  write_directives(job, *shape, script);
  script.line();
  script.comment(fmt::format("Written by gradwatt plan{}. Time limit: predicted p95 {} and margin.",
                             job.plan_id.empty() ? "" : " " + job.plan_id, core::format_duration(job.predicted_p95)));
  for (const auto& note : job.notes) script.comment(note);
  write_cautions(job, *shape, script);
  script.line();
  for (const auto& line : job.setup) script.line(line);
  for (const auto& row : kSettings)
    if (const auto& value = job.settings.*row.value) script.variable(row.variable, std::to_string(*value));
  for (const auto& [name, value] : job.environment) script.variable(name, value);
  script.line(*start);
  return script.take();
}

}  // namespace gradwatt::planning
