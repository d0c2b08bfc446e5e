// CPUs: too many threads, quotas, affinity, allocation, other programs, clocks.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

double ranks_on_host(const FactSheet& facts) {
  const double ranks = facts.number("job.world_size").value_or(facts.number("gpu.count").value_or(1));
  return std::max(1.0, ranks / std::max(1.0, facts.number("job.nodes").value_or(1)));
}

void judge_thread_demand(const FactSheet& facts, Opinion& opinion) {
  const auto cores = usable_cpus(facts);
  std::optional<double> threads;
  for (const std::string_view name : {"job.threads_per_rank", "torch.num_threads"})
    if (!threads) threads = facts.number(name);
  if (const auto set = facts.variable("OMP_NUM_THREADS");
      set && (set->empty() || *set == "unset") && ranks_on_host(facts) > 1)
    opinion.supports(weight::kFair,
                     "OMP_NUM_THREADS is not set: each rank computes with as many threads as there are CPUs",
                     {"env.value"});
  if (threads && cores) {
    const double wanted = *threads * ranks_on_host(facts);
    if (wanted > 1.25 * *cores)
      opinion.supports(weight::kFair,
                       fmt::format("{:.0f} rank{} × {:.0f} threads want more than {:.0f} CPUs", ranks_on_host(facts),
                                   ranks_on_host(facts) == 1 ? "" : "s", *threads, *cores),
                       {"job.threads_per_rank", "torch.num_threads", "host.cpu_budget"});
    else if (wanted <= *cores)
      opinion.speaks_against(weight::kFair,
                             fmt::format("the threads of all ranks ({:.0f}) have room on {:.0f} CPUs", wanted, *cores),
                             {"torch.num_threads", "host.cpu_budget"});
  }
  if (const auto workers = facts.number("loader.workers");
      workers && cores && ranks_on_host(facts) * (*workers + 1) > 1.25 * *cores)
    opinion.supports(
        weight::kFair,
        fmt::format("{:.0f} ranks with {:.0f} workers each share {:.0f} CPUs", ranks_on_host(facts), *workers, *cores),
        {"loader.workers", "host.cpu_budget"});
}

void judge_oversubscribed(const FactSheet& facts, Opinion& opinion) {
  if (const auto wait = facts.number("job.cpu_wait_share")) {
    if (*wait < 0.05)
      return void(opinion.rules_out(
          fmt::format("threads wait for a CPU only {:.0f} % of the time that they want one", 100 * *wait),
          {"job.cpu_wait_share"}));
    opinion.supports(*wait > 0.1 ? weight::kStrong : weight::kWeak,
                     fmt::format("threads wait for a CPU {:.0f} % of the time that they want one", 100 * *wait),
                     {"job.cpu_wait_share"});
  } else {
    opinion.wants("job.cpu_wait_share", weight::kStrong);
  }
  judge_thread_demand(facts, opinion);
  const auto busy = facts.number("job.cores_busy");
  const auto gaps = gpu_gaps(facts);
  if (busy && *busy / ranks_on_host(facts) > 8 && gaps && gaps->value > 0.1)
    opinion.supports(weight::kStrong,
                     fmt::format("{:.0f} CPUs work for {:.0f} GPU{}, which idle all the same", *busy,
                                 ranks_on_host(facts), ranks_on_host(facts) == 1 ? "" : "s"),
                     {"job.cores_busy", "gpu.count"});
  if (const auto foreign = facts.number("host.foreign_cores_busy"), cores = usable_cpus(facts);
      foreign && cores && *foreign > 0.3 * *cores)
    opinion.speaks_against(weight::kFair, fmt::format("other programs keep {:.1f} CPUs busy", *foreign),
                           {"host.foreign_cores_busy"});
}

void judge_quota(const FactSheet& facts, Opinion& opinion) {
  const auto throttled = facts.number("job.cpu_throttled_share");
  if (!throttled) return void(opinion.wants("job.cpu_throttled_share", weight::kDecisive));
  if (*throttled < 0.02)
    return void(opinion.rules_out(fmt::format("the CPU quota held the job {:.1f} % of the time", 100 * *throttled),
                                  {"job.cpu_throttled_share"}));
  opinion.supports(
      *throttled > 0.1 ? weight::kDecisive : weight::kStrong,
      fmt::format("the CPU quota of the control group held the job {:.0f} % of the time", 100 * *throttled),
      {"job.cpu_throttled_share"});
}

void judge_affinity(const FactSheet& facts, Opinion& opinion) {
  for (const std::string_view name : {"KMP_AFFINITY", "GOMP_CPU_AFFINITY"})
    if (const auto set = facts.variable(name);
        set && !set->empty() && *set != "unset" && *set != "disabled" && *set != "none")
      opinion.supports(weight::kStrong, fmt::format("{}={} pins threads", name, *set), {"env.value"});
  const auto cores = usable_cpus(facts);
  std::optional<double> used;
  for (const std::string_view name : {"job.cpus_used_distinct", "loader.cores_used"})
    if (!used) used = facts.number(name);
  if (!used) opinion.wants("job.cpus_used_distinct", weight::kStrong);
  // Threads that are pinned together keep their CPU busy; those that sleep use little wherever they are.
  if (used && *used < 0.8)
    return void(opinion.rules_out(fmt::format("the workers use {:.2g} CPUs together: nothing holds them to one", *used),
                                  {"loader.cores_used"}));
  const double workers = facts.number("loader.workers").value_or(0);
  const bool room = used && cores && *cores >= 3 * *used, crowd = used && workers >= 2 * *used;
  const auto wait = input_wait(facts);
  if (used && *used <= 2.2 && (room || crowd))
    // Many workers that are waited for and share one CPU of many: nothing else looks like that.
    opinion.supports(room && crowd && wait && wait->value >= kWorthMentioning ? weight::kDecisive : weight::kStrong,
                     fmt::format("all busy threads share {:.0f} CPU{}{}", *used, *used < 1.5 ? "" : "s",
                                 cores ? fmt::format(" of {:.0f}", *cores) : ""),
                     {"job.cpus_used_distinct", "loader.cores_used"});
  else if (used && cores && *used > 0.5 * *cores)
    return void(opinion.rules_out(fmt::format("busy threads were seen on {:.0f} of {:.0f} CPUs", *used, *cores),
                                  {"job.cpus_used_distinct"}));
  if (const auto idle = idle_cores(facts), gaps = gpu_gaps(facts);
      !used && idle && gaps && idle->value > 0.8 && gaps->value > 0.5)
    // A loader in the training thread and a slow training thread look the same.
    opinion.supports(weight::kFair, idle->text + " while GPUs idle", idle->facts);
  else if (used && workers >= 4)
    opinion.supports(weight::kWeak, fmt::format("{:.0f} workers could use more", workers), {"loader.workers"});
  if (wait && wait->value >= kWorthMentioning) opinion.supports(weight::kWeak, wait->text, wait->facts);
  if (const auto per_rank = facts.number("job.cpus_per_rank"); per_rank && *per_rank <= 1)
    opinion.speaks_against(weight::kStrong, "each rank was given one CPU only", {"job.cpus_per_rank"});
}

void judge_allocation(const FactSheet& facts, Opinion& opinion) {
  const auto per_rank = facts.number("job.cpus_per_rank");
  if (!per_rank) return void(opinion.wants("job.cpus_per_rank", weight::kStrong));
  if (*per_rank >= 4)
    return void(opinion.rules_out(fmt::format("each rank may use {:.0f} CPUs", *per_rank), {"job.cpus_per_rank"}));
  opinion.supports(*per_rank <= 1 ? weight::kDecisive : weight::kWeak,
                   fmt::format("each rank may use {:.0f} CPU{}", *per_rank, *per_rank == 1 ? "" : "s"),
                   {"job.cpus_per_rank"});
  if (facts.text_holds("job.launcher", "srun").value_or(false))
    opinion.supports(weight::kWeak, "srun does not inherit --cpus-per-task from sbatch", {"job.launcher"});
  if (const auto wait = input_wait(facts); wait && wait->value >= kWorthMentioning)
    opinion.supports(weight::kWeak, wait->text, wait->facts);
  if (const auto wait = facts.number("job.cpu_wait_share"); wait && *wait < 0.05)
    opinion.speaks_against(weight::kFair, "no thread waits for a CPU", {"job.cpu_wait_share"});
}

void judge_contention(const FactSheet& facts, Opinion& opinion) {
  if (const auto own = facts.number("job.cores_busy"); own && *own < 0.1 && !facts.has("job.cpu_wait_share"))
    return void(opinion.rules_out("the job uses hardly any CPU", {"job.cores_busy"}));
  const auto foreign = facts.number("host.foreign_cores_busy");
  const auto cores = facts.number("host.cpus") ? facts.number("host.cpus") : usable_cpus(facts);
  if (foreign && cores && *cores > 0) {
    const double share = *foreign / *cores;
    if (share < 0.1)
      opinion.speaks_against(weight::kStrong, fmt::format("other programs use {:.1f} of {:.0f} CPUs", *foreign, *cores),
                             {"host.foreign_cores_busy"});
    else
      opinion.supports(share > 0.25 ? weight::kStrong : weight::kWeak,
                       fmt::format("other programs keep {:.1f} of {:.0f} CPUs busy", *foreign, *cores),
                       {"host.foreign_cores_busy"});
  } else {
    opinion.wants("host.foreign_cores_busy", weight::kStrong);
  }
  if (const auto steal = facts.number("host.steal_pct"); steal && *steal > 10)
    opinion.supports(weight::kStrong, fmt::format("the hypervisor gives {:.0f} % of the CPU time to others", *steal),
                     {"host.steal_pct"});
  if (const auto bursts = bursty_input_wait(facts)) opinion.supports(weight::kWeak, bursts->text, bursts->facts);
  if (const auto wait = facts.number("job.cpu_wait_share"))
    *wait > 0.1
        ? opinion.supports(
              weight::kWeak,
              fmt::format("the job's threads wait for a CPU {:.0f} % of the time that they want one", 100 * *wait),
              {"job.cpu_wait_share"})
        : opinion.speaks_against(weight::kStrong, "the job's threads hardly wait for a CPU", {"job.cpu_wait_share"});
}

void judge_proxy(const FactSheet& facts, Opinion& opinion) {
  if (const auto several = several_hosts(facts); several && !*several)
    return void(opinion.rules_out("one host takes part: NCCL's threads have no network to serve", {"job.nodes"}));
  const auto waits = facts.number("comm.proxy_wait_share");
  if (!waits) return void(opinion.wants("comm.proxy_wait_share", weight::kStrong));
  const auto text = fmt::format("NCCL's network threads wait for a CPU {:.0f} % of the time that they want one", 100 * *waits);
  if (*waits < 0.05) return void(opinion.rules_out(text, {"comm.proxy_wait_share"}));
  opinion.supports(*waits > 0.2 ? weight::kStrong : weight::kFair, text, {"comm.proxy_wait_share"});
  if (const auto exposed = exposed_communication(facts))
    exposed->value > 0.1 ? opinion.supports(weight::kFair, exposed->text, exposed->facts)
                         : opinion.speaks_against(weight::kStrong, exposed->text, exposed->facts);
}

void judge_frequency(const FactSheet& facts, Opinion& opinion) {
  const auto clock = facts.number("host.cpu_clock_mhz"), most = facts.number("host.cpu_clock_max_mhz");
  if (!clock || !most || *most <= 0) return void(opinion.wants("host.cpu_clock_mhz", weight::kStrong));
  const double share = *clock / *most;
  if (share > 0.75)
    return void(
        opinion.rules_out(fmt::format("CPUs run at {:.0f} of {:.0f} MHz", *clock, *most), {"host.cpu_clock_mhz"}));
  opinion.supports(share < 0.6 ? weight::kStrong : weight::kWeak,
                   fmt::format("CPUs run at {:.0f} of {:.0f} MHz", *clock, *most),
                   {"host.cpu_clock_mhz", "host.cpu_clock_max_mhz"});
  if (facts.text_holds("host.governor", "powersave").value_or(false))
    opinion.supports(weight::kFair, "the frequency governor is powersave", {"host.governor"});
  if (const auto cpu = facts.number("main.cpu_share"); cpu && *cpu < 0.5)
    opinion.speaks_against(weight::kStrong, "the training thread rests half of the time", {"main.cpu_share"});
}

std::optional<double> cpu_wait_share(const FactSheet& facts) { return facts.number("job.cpu_wait_share"); }
std::optional<double> throttled_share(const FactSheet& facts) { return facts.number("job.cpu_throttled_share"); }

void propose_threads(const FactSheet& facts, Advice& advice) {
  if (const auto cores = usable_cpus(facts))
    advice.change += fmt::format("; here {:.0f} threads a rank at most: {:.0f} CPUs for {:.0f} rank{}",
                                 std::max(1.0, *cores / ranks_on_host(facts)), *cores, ranks_on_host(facts),
                                 ranks_on_host(facts) == 1 ? "" : "s");
}

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"host:cpu-thread-oversubscription", "D5", "more threads want to run than there are CPUs", prior::kUsual,
     "job.cpu_wait_share", judge_oversubscribed,
     "OMP_NUM_THREADS and torch.set_num_threads(CPUs / ranks), cv2.setNumThreads(0) in workers, fewer loader workers",
     "user", "", "unset OMP_NUM_THREADS", propose_threads, cpu_wait_share},
    {"host:cpu-quota", "D6", "the CPU quota of the container holds the job", prior::kUsual, "job.cpu_throttled_share",
     judge_quota,
     "raise the CPU limit of the container or batch job (Kubernetes resources.limits.cpu, docker --cpus), or use fewer "
     "threads",
     "operator", "", "the former limit", nullptr, throttled_share},
    {"host:cpu-affinity", "C5", "threads are pinned to too few CPUs", prior::kUsual, "job.cpus_used_distinct",
     judge_affinity,
     "unset KMP_AFFINITY and GOMP_CPU_AFFINITY; give workers all CPUs of the job: os.sched_setaffinity(0, cpus) in "
     "worker_init_fn; bind "
     "each rank to the socket of its GPU (numactl, launcher binding)",
     "user", "", "the former affinity", nullptr, nullptr},
    {"host:cpu-allocation", "", "each rank was given too few CPUs", prior::kUsual, "job.cpus_per_rank",
     judge_allocation, "srun --cpus-per-task=N (srun does not take it from sbatch), or SRUN_CPUS_PER_TASK", "user",
     "the node has the CPUs", "the former allocation", nullptr, nullptr},
    {"host:cpu-contention", "S2", "other programs take the CPUs", prior::kUsual, "host.foreign_cores_busy",
     judge_contention, "end the other programs, or run where nothing else does (exclusive allocation, cpuset)",
     "operator", "", "start them again", nullptr, nullptr},
    {"host:nccl-proxy-starved", "N15", "NCCL's network threads get no CPU when they need one", prior::kRare,
     "comm.proxy_wait_share", judge_proxy,
     "leave a core or two a rank free of loader workers and OMP threads; bind ranks to whole sockets rather than to few cores",
     "user", "the job uses more than one host", "the former binding", nullptr, exposed_share},
    {"host:cpu-frequency", "C4", "CPUs run far below their clock", prior::kRare, "host.cpu_clock_mhz", judge_frequency,
     "cpupower frequency-set -g performance; check the power profile in the BIOS", "root",
     "the training thread is what limits", "the former governor", nullptr, nullptr},
});

}  // namespace

std::span<const CauseInfo> cpu_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis
