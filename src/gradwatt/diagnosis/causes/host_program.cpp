// What the training program itself does on the host: launching many small kernels, reading values back, debug switches,
// Python's own work.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

/// Kernels shorter than this cannot hide what launching them costs.
constexpr double kShortKernel_s = 10e-6;

void judge_launch_bound(const FactSheet& facts, Opinion& opinion) {
  if (const auto queue = facts.number("trace.launch_queue_median")) {
    if (*queue > 20)
      return void(
          opinion.rules_out(fmt::format("{:.0f} kernels wait in the queue: launching is ahead of the GPU", *queue),
                            {"trace.launch_queue_median"}));
    if (*queue < 2)
      opinion.supports(weight::kFair, "kernels start as soon as they are launched: the queue is empty",
                       {"trace.launch_queue_median"});
  } else {
    opinion.wants("trace.launch_queue_median", weight::kFair);
  }
  if (const auto length = facts.number("trace.kernel_median_s"))
    *length < kShortKernel_s
        ? opinion.supports(weight::kFair, fmt::format("half of the kernels take less than {:.0f} µs", 1e6 * *length),
                           {"trace.kernel_median_s"})
        : opinion.speaks_against(weight::kWeak, fmt::format("kernels take {:.0f} µs", 1e6 * *length),
                                 {"trace.kernel_median_s"});
  const auto idle = facts.number("trace.idle_share"), host = facts.number("trace.idle_host_wait_share"),
             kernel = facts.number("trace.idle_kernel_wait_share");
  if (idle && *idle < 0.03) return void(opinion.rules_out("the GPU hardly idles", {"trace.idle_share"}));
  const double loader = facts.number("trace.loader_share").value_or(facts.number("step.data_wait_share").value_or(0));
  if (idle && host && *host > 0.5 && *idle > 0.1 && loader < 0.5 * *idle)
    opinion.supports(
        weight::kFair,
        fmt::format("the GPU waits for the host {:.0f} % of the time, and not for data", 100 * *idle * *host),
        {"trace.idle_share", "trace.idle_host_wait_share"});
  else if (kernel && idle && *kernel > 0.3 && *idle > 0.1)
    opinion.supports(weight::kWeak, "short gaps between kernels take much of the idle time",
                     {"trace.idle_kernel_wait_share"});
  if (const auto cpu = facts.number("main.cpu_share"); cpu && !trains_on_cpus(facts))
    *cpu > 0.9
        ? opinion.supports(weight::kFair, fmt::format("the training thread keeps a CPU {:.0f} % busy", 100 * *cpu),
                           {"main.cpu_share"})
    : *cpu < 0.5
        ? opinion.speaks_against(weight::kStrong, "the training thread rests half of the time", {"main.cpu_share"})
        : opinion;
  const auto sm = facts.number("gpu.sm_active_pct"), busy = facts.number("gpu.utilization_pct");
  if (sm && busy && *busy > 60 && *sm < 50 && several_ranks(facts).value_or(false) == false)
    opinion.supports(weight::kFair,
                     fmt::format("{:.0f} % utilisation with {:.0f} % of the SM cycles in use", *busy, *sm),
                     {"gpu.utilization_pct", "gpu.sm_active_pct"});
  if (loader > 0.3)
    opinion.speaks_against(weight::kStrong, fmt::format("the data loader takes {:.0f} % of the time", 100 * loader),
                           {"trace.loader_share"});
  const auto sizes = sized(facts, "scaling.step_s", "batch");
  if (sizes.size() >= 2 && sizes.front().value > 0) {
    const double growth = sizes.back().size / sizes.front().size, longer = sizes.back().value / sizes.front().value;
    longer < 1 + 0.3 * (growth - 1)
        ? opinion.supports(weight::kFair,
                           fmt::format("a batch {:.0f} times as large takes only {:.2f} times as long", growth, longer),
                           {"scaling.step_s"})
        : opinion.rules_out("the step grows with the batch", {"scaling.step_s"});
  }
}

void judge_host_reads(const FactSheet& facts, Opinion& opinion) {
  if (const auto blocking = facts.variable("CUDA_LAUNCH_BLOCKING"); blocking && *blocking == "1")
    opinion.supports(weight::kDecisive, "CUDA_LAUNCH_BLOCKING=1 makes each launch wait", {"env.value"});
  const auto calls = facts.number("trace.sync_calls_per_step");
  if (!calls)
    opinion.wants("trace.sync_calls_per_step", weight::kStrong);
  else if (*calls <= 2)
    return void(opinion.rules_out(fmt::format("the host waits for the GPU {:.0f} times a step", *calls),
                                  {"trace.sync_calls_per_step"}));
  else
    opinion.supports(*calls >= 10 ? weight::kStrong : weight::kFair,
                     fmt::format("the host waits for the GPU {:.0f} times a step", *calls),
                     {"trace.sync_calls_per_step"});
  if (const auto share = facts.number("trace.sync_share"); share && calls && *share > 0.2)
    opinion.supports(weight::kWeak, fmt::format("such waits take {:.0f} % of the host's time", 100 * *share),
                     {"trace.sync_share"});
  if (const auto gaps = gpu_gaps(facts); gaps && calls)
    gaps->value > 0.1    ? opinion.supports(weight::kFair, gaps->text, gaps->facts)
    : gaps->value < 0.03 ? opinion.speaks_against(weight::kStrong, "the GPU hardly idles", gaps->facts)
                         : opinion;
  if (const auto loader = input_wait(facts); loader && loader->value > 0.3)
    opinion.speaks_against(weight::kStrong, loader->text, loader->facts);
}

struct DebugSwitch {
  std::string_view variable, value;  ///< an empty value: whatever it is set to but 0
};
constexpr auto kDebugSwitches = std::to_array<DebugSwitch>({
    {"TORCH_DISTRIBUTED_DEBUG", "DETAIL"},
    {"NCCL_BLOCKING_WAIT", "1"},
    {"TORCH_NCCL_BLOCKING_WAIT", "1"},
    {"CUDA_LAUNCH_BLOCKING", "1"},
    {"TORCH_USE_CUDA_DSA", "1"},
    {"TORCH_SHOW_CPP_STACKTRACES", "1"},
    {"CUDA_MEMCHECK", "1"},
});

void judge_debug(const FactSheet& facts, Opinion& opinion) {
  for (const auto& [variable, value] : kDebugSwitches) {
    const auto set = facts.variable(variable);
    if (!set || *set != value || variable == "TORCH_SHOW_CPP_STACKTRACES") continue;
    // Blocking launches have a row of their own, which says what happens.
    opinion.supports(variable == "CUDA_LAUNCH_BLOCKING" ? weight::kFair : weight::kDecisive,
                     fmt::format("{}={} slows each step for debugging", variable, *set), {"env.value"});
  }
  for (const auto* fact : facts.all("torch.debug"))
    if (const auto what = record::as_text(*fact))
      opinion.supports(weight::kDecisive, *what + " is on", {"torch.debug"});
}

void judge_main_thread(const FactSheet& facts, Opinion& opinion) {
  if (trains_on_cpus(facts))
    return void(opinion.rules_out("the job trains on CPUs: that is the training thread's work", {"job.device"}));
  const auto cpu = facts.number("main.cpu_share");
  if (!cpu) return void(opinion.wants("main.cpu_share", weight::kFair));
  if (*cpu < 0.7)
    return void(opinion.rules_out(fmt::format("the training thread runs only {:.0f} % of the time", 100 * *cpu),
                                  {"main.cpu_share"}));
  opinion.supports(weight::kFair, fmt::format("the training thread keeps a CPU {:.0f} % busy", 100 * *cpu),
                   {"main.cpu_share"});
  if (const auto sleeping = facts.number("loader.workers_sleeping_share"); sleeping && *sleeping > 0.7)
    opinion.supports(weight::kFair, "loader workers wait for it", {"loader.workers_sleeping_share"});
  if (const auto workers = facts.number("loader.workers"); workers && *workers == 0)
    opinion.speaks_against(weight::kStrong, "without workers it prepares the batches too", {"loader.workers"});
  if (const auto gaps = gpu_gaps(facts); gaps && gaps->value > 0.2)
    opinion.supports(weight::kWeak, gaps->text, gaps->facts);
  if (const auto queue = facts.number("trace.launch_queue_median"); queue && *queue < 2)
    opinion.speaks_against(weight::kFair, "it launches kernels", {"trace.launch_queue_median"});
}

void judge_garbage_collection(const FactSheet& facts, Opinion& opinion) {
  if (!several_ranks(facts).value_or(true)) return void(opinion.rules_out("there is one rank", {"job.world_size"}));
  if (const auto share = facts.number("python.gc_share"))
    *share > 0.005
        ? opinion.supports(weight::kStrong, fmt::format("garbage collection takes {:.1f} % of the time", 100 * *share),
                           {"python.gc_share"})
        : opinion.rules_out(fmt::format("garbage collection takes {:.2f} % of the time", 100 * *share),
                            {"python.gc_share"});
  else
    opinion.wants("python.gc_share", weight::kStrong);
  if (const auto stays = facts.number("rank.culprit_stays"))
    *stays < 0.5
        ? opinion.supports(weight::kFair, "now one rank is late, now another", {"rank.culprit_stays"})
        : opinion.speaks_against(weight::kStrong, "it is always the same rank that is late", {"rank.culprit_stays"});
  if (const auto ranks = facts.number("job.world_size"); ranks && *ranks >= 64)
    opinion.supports(weight::kWeak, fmt::format("with {:.0f} ranks some rank collects at nearly every step", *ranks),
                     {"job.world_size"});
}

std::optional<double> host_wait_share(const FactSheet& facts) {
  const auto idle = facts.number("trace.idle_share"), host = facts.number("trace.idle_host_wait_share");
  return idle && host ? std::optional(*idle * *host) : std::nullopt;
}

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"host:launch-bound", "C1", "the host cannot launch small kernels fast enough", prior::kUsual, "trace.idle_share",
     judge_launch_bound,
     "torch.compile(mode=\"reduce-overhead\") or CUDA graphs; fused or foreach optimizer; channels_last; a larger "
     "local batch",
     "user", "shapes repeat; a larger batch needs the learning rate checked", "run eagerly again", nullptr,
     host_wait_share},
    {"host:device-synchronisation", "C2", "the host reads values back from the GPU in every step", prior::kUsual,
     "trace.sync_calls_per_step", judge_host_reads,
     "keep metrics on the device and read them every N steps; no .item(), .cpu(), print or nonzero in the loop; "
     "zero_grad(set_to_none=True); unset CUDA_LAUNCH_BLOCKING",
     "user", "", "log each step again", nullptr, host_wait_share},
    {"config:debug-modes", "C3", "a debugging mode is on", prior::kRare, "step.time_s", judge_debug,
     "unset it for production runs: TORCH_DISTRIBUTED_DEBUG, TORCH_NCCL_BLOCKING_WAIT, "
     "torch.autograd.set_detect_anomaly(False), end the profiler",
     "user", "", "set it again", nullptr, nullptr},
    {"host:main-thread", "D11", "Python in the training thread holds the GPU up", prior::kUsual, "main.cpu_share",
     judge_main_thread,
     "move collating, augmentation and logging into workers or another process; sample its stack (py-spy) to see what "
     "it does",
     "user", "", "the former code", nullptr, nullptr},
    {"host:garbage-collection-skew", "D11", "ranks collect Python garbage at different times", prior::kRare,
     "python.gc_share", judge_garbage_collection,
     "gc.disable() after set-up and gc.collect() on all ranks at the same steps", "user",
     "memory in cycles grows between two collections", "gc.enable()", nullptr, nullptr},
});

}  // namespace

std::span<const CauseInfo> host_program_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis
