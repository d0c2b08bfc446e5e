// The Slurm batch script of a planned job: what was planned, in directives that every site since Slurm 20.11 reads,
// with `gradwatt run` around the command.
//
//   JobFile job{.total_gpus = 16, .node = {.gpus = 4, .cores = 76}, .predicted_p95 = 3h, .command = {"python",
//   "train.py"}}; core::Result<std::string> script = slurm_script(job);
//
// What the directives do is taken from the manual pages and the source of Slurm (August 2026); what a plan has to
// emit, from requests of users whose GPU counts in script and directives drifted apart.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "gradwatt/core/result.hpp"

namespace gradwatt::planning {

/// What one node has.
struct NodeShape {
  int gpus = 0;
  int cores = 0;
  std::optional<int> most_nodes;                           ///< that a job may have
  std::optional<std::chrono::seconds> longest_job;         ///< time limit of the partition
  std::optional<double> power_cap_min_w, power_cap_max_w;  ///< of one GPU
};

/// Slurm locks the GPU's clocks for the job and frees them at its end; "low", "medium", "high", "highm1" or MHz.
struct GpuClock {
  std::string frequency;
};
/// Slurm has no power cap of its own; sites add one, such as NERSC's "--gpu-power".
struct SiteCap {
  std::string flag;
  int watts = 0;
};

enum class RankStart : std::uint8_t {
  per_gpu,   ///< srun starts every rank
  per_node,  ///< srun starts one launcher a node (torchrun, accelerate), which starts the ranks
};

/// What the run is to be told. Each is exported (GW_LOCAL_BATCH, …) and put in place of {local_batch}, {accumulation},
/// {workers}, {seed} in words of the command.
struct RunSettings {
  std::optional<int> local_batch, accumulation, workers, seed;
};

struct JobFile {
  std::string plan_id;
  std::string name = "gradwatt";
  int total_gpus = 0;
  NodeShape node;
  RankStart rank_start = RankStart::per_gpu;
  bool exclusive = true;         ///< whole nodes: only then Slurm's own energy figures are of this job alone
  std::optional<int> memory_gb;  ///< of one node, where it is shared; an exclusive job gets all of it
  std::string partition, account, constraint;  ///< empty: the site's default

  std::chrono::seconds predicted_p95{0};
  /// On top of the prediction, which covers the job and not the node that starts slowly: a tenth, ten minutes at least.
  double margin_share = 0.10;
  std::chrono::seconds least_margin{600};

  /// Sent to every task before the time is up, so that it can write a checkpoint.
  std::string signal = "TERM";
  std::chrono::seconds checkpoint{120};  ///< time that the command needs after it; never planned below two minutes
  std::chrono::seconds restore{0};       ///< and what the site's hooks need to put caps back

  std::variant<std::monostate, GpuClock, SiteCap> power;  ///< one of them, never both
  std::optional<int> energy_interval_s = 30;              ///< Slurm's own energy profile; nothing: off
  RunSettings settings;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> setup;  ///< lines of shell before the job starts: modules, virtual environment
  std::vector<std::string> notes;  ///< predictions with their intervals, written as comments
  std::string gradwatt = "gradwatt";
  std::vector<std::string> run_options;  ///< of `gradwatt run`
  std::vector<std::string> command;
};

/// Nodes and what each task gets, from total GPUs and the shape of a node.
struct JobShape {
  int nodes = 0, gpus_per_node = 0, tasks_per_node = 0, cpus_per_task = 0;
  std::chrono::seconds time{0};
  std::chrono::seconds signal_lead{0};
};
/// Fails with one sentence that names the limit and the nearest thing that is possible.
[[nodiscard]] core::Result<JobShape> shape_of(const JobFile& job);

/// The script; the same failures, and those of text that would not reach Slurm as it stands.
[[nodiscard]] core::Result<std::string> slurm_script(const JobFile& job);

}  // namespace gradwatt::planning
