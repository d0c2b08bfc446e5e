// The data loader: no workers, too few, started anew each epoch, copies between processes and to the GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

/// A part of the CPUs that stays free for ranks and system when workers are proposed.
constexpr double kReservedCores = 1;

/// GPUs without a kernel for longer than this wait for something on the host.
constexpr double kGaps = 0.1;

/// Waiting for input is what all loader causes explain: without it none of them holds anything up.
bool expect_input_wait(const FactSheet& facts, Opinion& opinion, double most) {
  const auto wait = input_wait(facts);
  if (!wait) {
    opinion.wants("step.data_wait_share", weight::kStrong);
    if (const auto gaps = gpu_gaps(facts); gaps && gaps->value > kGaps)  // many other causes leave them too
      opinion.supports(weight::kWeak, gaps->text, gaps->facts);
    return true;
  }
  if (wait->value < 0.02) {
    opinion.rules_out(wait->text, wait->facts);
    return false;
  }
  if (wait->value < kWorthMentioning)
    opinion.speaks_against(weight::kFair, wait->text, wait->facts);
  else
    opinion.supports(std::min(most, weight::kFair + 6 * wait->value), wait->text, wait->facts);
  // A loader that is too slow is so in each step; what comes in bursts lies outside of it.
  if (const auto bursts = bursty_input_wait(facts)) opinion.speaks_against(weight::kWeak, bursts->text, bursts->facts);
  return true;
}

void judge_synchronous(const FactSheet& facts, Opinion& opinion) {
  const auto workers = facts.number("loader.workers");
  if (workers && *workers > 0)
    return void(opinion.rules_out(fmt::format("the loader has {:.0f} workers", *workers), {"loader.workers"}));
  if (!expect_input_wait(facts, opinion, workers ? weight::kStrong : weight::kFair)) return;
  if (workers)
    opinion.fits(weight::kStrong, "the loader has no workers: the training thread prepares each batch itself",
                 {"loader.workers"});
  else
    opinion.wants("loader.workers", weight::kStrong);
  if (const auto cpu = facts.number("main.cpu_share"); cpu && *cpu > 0.8)
    opinion.supports(weight::kWeak, fmt::format("the training thread runs on a CPU {:.0f} % of the time", 100 * *cpu),
                     {"main.cpu_share"});
}

/// More workers were tried: the best witness there is.
void judge_tried_workers(const FactSheet& facts, Opinion& opinion) {
  const auto tried = sized(facts, "scaling.samples_per_s", "workers");
  if (tried.size() < 2 || tried.front().value <= 0) return;
  const double gained = std::ranges::max(tried, {}, &SizedFact::value).value / tried.front().value;
  if (gained > 1.1)
    opinion.supports(weight::kStrong, fmt::format("more workers make it {:.2f} times as fast", gained),
                     {"scaling.samples_per_s"});
  else
    opinion.rules_out(
        fmt::format("with {:.0f} instead of {:.0f} workers it is no faster", tried.back().size, tried.front().size),
        {"scaling.samples_per_s"});
}

void judge_census(const FactSheet& facts, Opinion& opinion) {
  const auto running = facts.number("loader.workers_running_share");
  const auto blocked = facts.number("loader.workers_blocked_share");
  const auto sleeping = facts.number("loader.workers_sleeping_share");
  if (blocked && *blocked > 0.3)
    opinion.speaks_against(weight::kStrong,
                           fmt::format("workers wait for storage {:.0f} % of the time", 100 * *blocked),
                           {"loader.workers_blocked_share"});
  else if (running && *running > 0.7)
    opinion.supports(weight::kFair, fmt::format("workers compute {:.0f} % of the time", 100 * *running),
                     {"loader.workers_running_share"});
  else if (sleeping && *sleeping > 0.7)
    opinion.supports(
        weight::kWeak,
        fmt::format("workers sleep {:.0f} % of the time although their batches are awaited", 100 * *sleeping),
        {"loader.workers_sleeping_share"});
  if (!running && !blocked) opinion.wants("loader.workers_running_share", weight::kFair);
}

void judge_too_few(const FactSheet& facts, Opinion& opinion) {
  const auto workers = facts.number("loader.workers");
  // The wait alone is that of every loader cause; with a number of workers it is a figure for this one.
  if (!expect_input_wait(facts, opinion, workers ? weight::kStrong : weight::kFair)) return;
  if (!workers)
    opinion.wants("loader.workers", weight::kFair);
  else if (*workers == 0)
    opinion.speaks_against(weight::kStrong, "the loader has no workers at all", {"loader.workers"});
  else if (*workers <= 2)
    opinion.supports(weight::kFair,
                     fmt::format("the loader has {:.0f} worker{} a rank", *workers, *workers == 1 ? "" : "s"),
                     {"loader.workers"});
  judge_tried_workers(facts, opinion);
  judge_census(facts, opinion);
  if (const auto cores = idle_cores(facts)) {
    if (const auto used = facts.number("job.cpus_used_distinct"); used && workers && *workers >= 2 * *used)
      opinion.speaks_against(weight::kFair, "the workers that there are do not get CPUs: " + cores->text, cores->facts);
    else if (cores->value > 0.4)
      opinion.supports(weight::kWeak, "CPUs are free for more workers: " + cores->text, cores->facts);
    else if (cores->value < 0.1)
      opinion.speaks_against(weight::kFair, "no CPU is free for more workers: " + cores->text, cores->facts);
  }
  if (const auto wait = facts.number("job.cpu_wait_share"); wait && *wait > 0.25)
    opinion.speaks_against(weight::kFair,
                           fmt::format("threads wait for a CPU {:.0f} % of the time that they want one", 100 * *wait),
                           {"job.cpu_wait_share"});
}

void judge_respawn(const FactSheet& facts, Opinion& opinion) {
  if (const auto persistent = facts.is("loader.persistent_workers"); persistent && *persistent)
    return void(opinion.rules_out("workers stay alive between epochs", {"loader.persistent_workers"}));
  else if (persistent)
    opinion.fits(weight::kWeak, "workers end with each epoch", {"loader.persistent_workers"});
  if (const auto workers = facts.number("loader.workers"); workers && *workers == 0)
    return void(opinion.rules_out("the loader has no workers", {"loader.workers"}));
  const auto share = facts.number("epoch.gap_share"), gap = facts.number("epoch.gap_s");
  if (share)
    *share >= kWorthMentioning
        ? void(opinion.supports(weight::kStrong,
                                fmt::format("pauses between epochs take {:.0f} % of the time", 100 * *share),
                                {"epoch.gap_share"}))
        : void(opinion.rules_out(fmt::format("pauses between epochs take {:.1f} % of the time", 100 * *share),
                                 {"epoch.gap_share"}));
  else if (gap && *gap >= 1)
    opinion.supports(weight::kStrong, fmt::format("{:.3g} s pass between two epochs", *gap), {"epoch.gap_s"});
  else if (facts.text_holds("job.stalls_at", "epoch").value_or(false))
    opinion.supports(weight::kStrong, "the job stands still at the end of each epoch", {"job.stalls_at"});
  else
    opinion.wants("epoch.gap_share", weight::kStrong);
  if (const auto restarts = facts.number("loader.workers_restarted"); restarts && *restarts > 1)
    opinion.supports(weight::kFair, fmt::format("workers were started {:.0f} times", *restarts),
                     {"loader.workers_restarted"});
  if (facts.text_holds("host.os", "windows").value_or(false))
    opinion.fits(weight::kWeak, "starting a process is costly on Windows", {"host.os"});
}

void judge_copies_between_processes(const FactSheet& facts, Opinion& opinion) {
  if (!expect_input_wait(facts, opinion, weight::kFair)) return;
  const auto transfer = facts.text("loader.transfer");
  if (!transfer) return void(opinion.wants("loader.transfer", weight::kDecisive));
  if (transfer->find("shared") != std::string::npos)
    return void(opinion.rules_out("batches come through shared memory", {"loader.transfer"}));
  opinion.fits(weight::kDecisive, fmt::format("batches come from the workers by {}", *transfer), {"loader.transfer"});
}

void judge_streaming(const FactSheet& facts, Opinion& opinion) {
  const auto streaming = facts.text_holds("loader.kind", "stream");
  if (!streaming) return void(opinion.wants("loader.kind", weight::kStrong));
  if (!*streaming) return void(opinion.rules_out("the data set is not streamed", {"loader.kind"}));
  opinion.fits(weight::kFair, "shards are fetched while training", {"loader.kind"});
  if (const auto stall = facts.number("step.stall_s"); stall && *stall >= 30)
    opinion.supports(weight::kStrong, fmt::format("pauses of {:.0f} s between otherwise equal steps", *stall),
                     {"step.stall_s"});
  else if (const auto gap = facts.number("epoch.gap_s"); gap && *gap >= 30)
    opinion.supports(weight::kFair, fmt::format("{:.0f} s pass between two epochs", *gap), {"epoch.gap_s"});
  else
    opinion.wants("step.stall_s", weight::kStrong);
}

void judge_pageable(const FactSheet& facts, Opinion& opinion) {
  if (const auto pageable = facts.number("trace.copy_pageable_share")) {
    if (*pageable < 0.1)
      return void(opinion.rules_out("batches are copied to the GPU from pinned memory", {"trace.copy_pageable_share"}));
    opinion.supports(weight::kFair,
                     fmt::format("{:.0f} % of the bytes for the GPU come from pageable memory", 100 * *pageable),
                     {"trace.copy_pageable_share"});
  } else {
    opinion.wants("trace.copy_pageable_share", weight::kFair);
  }
  if (const auto exposed = facts.number("trace.copy_exposed_share"))
    *exposed < 0.02 ? void(opinion.rules_out("copies to the GPU hold nothing up", {"trace.copy_exposed_share"}))
                    : void(opinion.supports(std::min(weight::kStrong, weight::kWeak + 20 * *exposed),
                                            fmt::format("the GPU only copies {:.0f} % of the time", 100 * *exposed),
                                            {"trace.copy_exposed_share"}));
  else
    opinion.wants("trace.copy_exposed_share", weight::kStrong);
  if (const auto pinned = facts.is("loader.pin_memory"))
    *pinned ? opinion.speaks_against(weight::kFair, "the loader pins its batches", {"loader.pin_memory"})
            : opinion.fits(weight::kWeak, "the loader does not pin its batches", {"loader.pin_memory"});
}

std::optional<double> input_share(const FactSheet& facts) {
  for (const std::string_view name : {"step.data_wait_share", "trace.loader_share"})
    if (const auto share = facts.number(name)) return share;
  return std::nullopt;
}

std::optional<double> epoch_share(const FactSheet& facts) { return facts.number("epoch.gap_share"); }
std::optional<double> copy_share(const FactSheet& facts) { return facts.number("trace.copy_exposed_share"); }

/// CPUs that one worker keeps busy: one that sleeps on storage or the network leaves room for others.
double cpus_of_worker(const FactSheet& facts, double ranks, double workers) {
  auto running = facts.number("loader.workers_running_share");
  if (const auto busy = facts.number("job.cores_busy"); !running && busy) running = *busy / (ranks * (workers + 1));
  return std::clamp(running.value_or(1), 0.05, 1.0);
}

/// What one worker yields is what all of them yield now over their number; it takes as many as the wait asks for, and
/// no more than there are CPUs for.
void propose_workers(const FactSheet& facts, Advice& advice) {
  const auto wait = input_share(facts);
  const double have = facts.number("loader.workers").value_or(0);
  const double ranks = std::max(1.0, facts.number("job.world_size").value_or(facts.number("gpu.count").value_or(1)));
  if (!wait || *wait >= 0.99) return;
  double workers = std::ceil(std::max(1.0, have) / (1 - *wait)) + 1;
  const auto cores = usable_cpus(facts);
  std::string bound;
  if (cores) {
    const double room = std::floor((*cores - ranks - kReservedCores) / (ranks * cpus_of_worker(facts, ranks, have)));
    const auto whose =
        fmt::format("{:.0f} CPU{} for {:.0f} rank{}", *cores, *cores == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s");
    if (room <= have) {
      advice.change += fmt::format("; there is no CPU for more workers ({}): make an example cheaper first", whose);
      return;
    }
    if (workers > room) {
      workers = room;
      bound = fmt::format("; more find no room: {}", whose);
    }
  }
  advice.change +=
      fmt::format("; begin with num_workers={:.0f} a rank and stop where more gain nothing{}", workers, bound);
}

constexpr std::string_view kWorkersRollback = "set num_workers back";
constexpr std::string_view kWorkersRoom = "ranks × workers stay below the CPUs that the job may use";

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"data:loader-synchronous", "D1", "the data loader has no worker processes", prior::kCommon, "step.data_wait_share",
     judge_synchronous,
     "DataLoader(num_workers=N, pin_memory=True, persistent_workers=True) and .to(device, non_blocking=True); in "
     "TensorFlow 2: dataset.map(num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)",
     "user", kWorkersRoom, kWorkersRollback, propose_workers, input_share},
    {"data:too-few-workers", "D2", "too few workers prepare the batches", prior::kCommon, "step.data_wait_share",
     judge_too_few,
     "raise DataLoader(num_workers=…), or make an example cheaper (decode at the size that is used, cache resized "
     "images)",
     "user", kWorkersRoom, kWorkersRollback, propose_workers, input_share},
    {"data:worker-respawn", "D9", "workers are started anew each epoch", prior::kUsual, "epoch.gap_share",
     judge_respawn,
     "DataLoader(persistent_workers=True), and build data set and loader once, outside the loop over epochs", "user",
     "the data set does not change between epochs", "persistent_workers=False", nullptr, epoch_share},
    {"data:inter-process-copy", "", "batches are copied between processes", prior::kRare, "step.data_wait_share",
     judge_copies_between_processes,
     "hand batches over in shared memory: torch.utils.data.DataLoader does; return tensors, not Python objects or "
     "lists",
     "user", "", "use the former data pipeline", nullptr, input_share},
    {"data:streaming-prefetch-bug", "", "the streaming data set runs out of prepared shards", prior::kRare,
     "step.stall_share", judge_streaming,
     "update the streaming library; raise its look-ahead (predownload, prefetch); keep shards on local disk", "user",
     "", "the former version", nullptr, nullptr},
    {"data:pageable-copies", "D8", "batches go to the GPU from pageable memory, without overlap", prior::kUsual,
     "trace.copy_exposed_share", judge_pageable,
     "DataLoader(pin_memory=True) and .to(device, non_blocking=True); send uint8 and convert on the GPU", "user",
     "host memory for ranks × workers × prefetch_factor batches; never pin inline just before the copy",
     "pin_memory=False", nullptr, copy_share},
});

}  // namespace

std::span<const CauseInfo> loader_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis
