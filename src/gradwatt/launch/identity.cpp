#include "gradwatt/launch/identity.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <random>

#include "gradwatt/core/hash.hpp"
#include "gradwatt/core/text.hpp"
#include "gradwatt/launch/process_table.hpp"

namespace gradwatt::launch {
namespace {

using Names = std::array<std::string_view, 3>;  // the first that is set counts; empty: no further

struct Launcher {
  std::string_view name;
  std::string_view sign;    ///< set in every task, and only there
  std::string_view prefix;  ///< of the run id
  Names id;                 ///< id of the launch: joined by '.' where `join_id`, else the first that is set
  bool join_id;
  Names rank, local_rank, world_size, local_world_size;
};

// Innermost first. Sources: torch.distributed.run "Environment Variables"; mpirun(1) of Open MPI 4 and 5; PMIx standard
// 3; the Hydra process manager; srun(1) "Output environment variables".
constexpr auto kLaunchers = std::to_array<Launcher>({
    {"torchrun",
     "TORCHELASTIC_RUN_ID",
     "torchrun",
     {"TORCHELASTIC_RUN_ID"},
     false,
     {"RANK"},
     {"LOCAL_RANK"},
     {"WORLD_SIZE"},
     {"LOCAL_WORLD_SIZE"}},
    {"openmpi",
     "OMPI_COMM_WORLD_RANK",
     "pmix",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"},
     false,
     {"OMPI_COMM_WORLD_RANK"},
     {"OMPI_COMM_WORLD_LOCAL_RANK"},
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"}},
    {"slurm",
     "SLURM_STEP_ID",
     "slurm",
     {"SLURM_JOB_ID", "SLURM_STEP_ID"},
     true,
     {"SLURM_PROCID"},
     {"SLURM_LOCALID"},
     {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"},
     {}},
    {"pmix", "PMIX_NAMESPACE", "pmix", {"PMIX_NAMESPACE"}, false, {"PMIX_RANK"}, {}, {}, {}},
    {"mpich", "PMI_RANK", "mpich", {}, false, {"PMI_RANK"}, {"MPI_LOCALRANKID"}, {"PMI_SIZE"}, {"MPI_LOCALNRANKS"}},
});

struct Detail {
  std::string_view key, variable;
};
constexpr auto kDetails = std::to_array<Detail>({
    {"slurm_job_id", "SLURM_JOB_ID"},
    {"slurm_step_id", "SLURM_STEP_ID"},
    {"slurm_array_job_id", "SLURM_ARRAY_JOB_ID"},
    {"slurm_array_task_id", "SLURM_ARRAY_TASK_ID"},
    {"slurm_job_name", "SLURM_JOB_NAME"},
    {"slurm_partition", "SLURM_JOB_PARTITION"},
    {"slurm_node_list", "SLURM_JOB_NODELIST"},
    {"slurm_nodes", "SLURM_JOB_NUM_NODES"},
    {"slurm_tasks", "SLURM_NTASKS"},
    {"slurm_cluster", "SLURM_CLUSTER_NAME"},
    {"pmix_namespace", "PMIX_NAMESPACE"},
    {"torchrun_id", "TORCHELASTIC_RUN_ID"},
    {"torchrun_restarts", "TORCHELASTIC_RESTART_COUNT"},
    {"master_addr", "MASTER_ADDR"},
});

std::optional<std::string_view> text_of(const Environment& environment, const Names& names) {
  for (const auto name : names) {
    if (name.empty()) break;
    if (const auto value = find_variable(environment, name); value && !value->empty()) return value;
  }
  return std::nullopt;
}

std::optional<int> number_of(const Environment& environment, const Names& names) {
  const auto text = text_of(environment, names);
  const auto number = text ? core::parse_int(*text) : std::nullopt;
  return number && *number >= 0 ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// Tasks on this node out of "2(x3),1" and the node's own number.
std::optional<int> slurm_local_tasks(const Environment& environment) {
  const auto list = text_of(environment, {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  auto node = number_of(environment, {"SLURM_NODEID"});
  if (!list || !node) return std::nullopt;
  for (const auto part : core::split(*list, ',')) {
    const auto open = part.find("(x");
    const auto tasks = core::parse_int(part.substr(0, open));
    const auto times = open == std::string_view::npos
                           ? std::optional<std::int64_t>(1)
                           : core::parse_int(part.substr(open + 2, part.find(')', open) - open - 2));
    if (!tasks || !times) return std::nullopt;
    if (*node < *times) return static_cast<int>(*tasks);
    *node -= static_cast<int>(*times);
  }
  return std::nullopt;
}

/// Nothing when the launcher gives none, or one that every launch has ("none" is torchrun's default).
std::optional<std::string> launch_id(const Launcher& launcher, const Environment& environment) {
  std::string id;
  for (const auto name : launcher.id) {
    if (name.empty()) break;
    const auto value = find_variable(environment, name).value_or("");
    if (value.empty() && launcher.join_id) return std::nullopt;
    if (value.empty() || value == "none") continue;
    id += (id.empty() ? "" : ".") + std::string(value);
    if (!launcher.join_id) break;
  }
  if (id.empty()) return std::nullopt;
  return sanitized_id(fmt::format("{}-{}", launcher.prefix, id));
}

/// What tasks of one host have in common without an id: the very process that started them.
std::optional<std::string> parent_id(std::string_view prefix, const core::FileTree& files, pid_t parent) {
  const auto process = read_process(files, parent);
  if (!process) return std::nullopt;
  const auto host = files.read("proc/sys/kernel/hostname").value_or("host");
  return sanitized_id(fmt::format("{}-{}-{}-{}", prefix, host, parent, process->started_ticks));
}

std::optional<std::string> shared_id(const std::vector<const Launcher*>& found, const Environment& environment,
                                     const core::FileTree& files, pid_t parent) {
  for (const auto* launcher : found)
    if (auto id = launch_id(*launcher, environment)) return id;
  return parent_id(found.front()->prefix, files, parent);
}

}  // namespace

Identity identify(const Environment& environment, const core::FileTree& files, pid_t parent) {
  Identity identity;
  for (const auto& [key, variable] : kDetails)
    if (const auto value = find_variable(environment, variable); value && !value->empty())
      identity.details.emplace_back(key, *value);

  std::vector<const Launcher*> found;
  for (const auto& launcher : kLaunchers)
    if (find_variable(environment, launcher.sign)) found.push_back(&launcher);
  // The user's own word for all tasks, whoever launches them.
  const auto chosen = find_variable(environment, "GRADWATT_RUN_ID").value_or("");
  if (!chosen.empty()) identity.shared_run_id = sanitized_id(chosen);
  if (found.empty()) return identity;

  const auto& inner = *found.front();
  identity.launcher = inner.name;
  identity.rank = number_of(environment, inner.rank);
  identity.local_rank = number_of(environment, inner.local_rank);
  identity.world_size = number_of(environment, inner.world_size);
  identity.local_world_size = number_of(environment, inner.local_world_size);
  if (inner.name == "slurm") identity.local_world_size = slurm_local_tasks(environment);
  // One task alone needs no shared name, and an interactive step may start many runs one after the other.
  if (!identity.shared_run_id && identity.world_size != 1)
    identity.shared_run_id = shared_id(found, environment, files, parent);
  return identity;
}

std::string new_run_id(core::WallTime now, std::uint32_t random) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(now - day));
  auto id = fmt::format("{:04}{:02}{:02}-{:02}{:02}{:02}-", static_cast<int>(date.year()),
                        static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                        time.minutes().count(), time.seconds().count());
  for (int i = 0; i < 4; ++i, random /= 36) id += kDigits[random % 36];
  return id;
}

std::uint32_t random_number() {
  std::uint32_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) number = std::random_device()();
  return number;
}

std::string run_id_of(const Identity& identity, core::WallTime now, std::uint32_t random) {
  return identity.shared_run_id ? *identity.shared_run_id : new_run_id(now, random);
}

std::string sanitized_id(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  std::string id;
  for (const char c : text) {
    const bool fits =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    id += fits ? c : '-';
  }
  if (id.empty() || id.front() == '.' || id.front() == '-') id.insert(0, "run");
  if (id.size() > kLongest)
    id = fmt::format("{}-{:08x}", id.substr(0, kLongest - 9), static_cast<std::uint32_t>(core::hash_of(text)));
  return id;
}

}  // namespace gradwatt::launch
