// Storage below the job: slow reads that the loader waits for, and checkpoints that the steps wait for.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

enum class Medium { unknown, hard_disk, network, fast };

Medium medium_of(const FactSheet& facts) {
  const auto kind = facts.text("host.data_storage");
  if (!kind) return Medium::unknown;
  const auto is_one_of = [&](auto... words) { return ((kind->find(words) != std::string::npos) || ...); };
  if (is_one_of("hdd", "hard disk", "rotational", "spinning")) return Medium::hard_disk;
  if (is_one_of("nfs", "cifs", "smb", "lustre", "gpfs", "ceph", "fuse", "s3", "object", "network", "9p", "beegfs"))
    return Medium::network;
  return Medium::fast;
}

/// Signs that reads are what the loader waits for; the same for every medium.
bool judge_reads(const FactSheet& facts, Opinion& opinion) {
  const auto wait = input_wait(facts);
  if (wait && wait->value < 0.02) {
    opinion.rules_out(wait->text, wait->facts);
    return false;
  }
  if (wait && wait->value >= kWorthMentioning)
    opinion.supports(std::min(weight::kFair, weight::kWeak + 2 * wait->value), wait->text, wait->facts);
  else if (!wait)
    opinion.wants("step.data_wait_share", weight::kFair);
  if (const auto blocked = facts.number("loader.workers_blocked_share"))
    *blocked > 0.3
        ? opinion.supports(weight::kStrong,
                           fmt::format("workers wait for storage {:.0f} % of the time", 100 * *blocked),
                           {"loader.workers_blocked_share"})
        : opinion.speaks_against(weight::kFair,
                                 fmt::format("workers wait for storage only {:.0f} % of the time", 100 * *blocked),
                                 {"loader.workers_blocked_share"});
  else
    opinion.wants("loader.workers_blocked_share", weight::kStrong);
  if (const auto pressure = facts.number("host.pressure_io_share"); pressure && *pressure > 0.1)
    opinion.supports(weight::kFair, fmt::format("some thread waits for storage {:.0f} % of the time", 100 * *pressure),
                     {"host.pressure_io_share"});
  else if (const auto stuck = facts.number("loader.workers_blocked_share");
           pressure && *pressure < 0.02 && (!stuck || *stuck < 0.3))
    opinion.speaks_against(weight::kFair, "no thread waits for local storage", {"host.pressure_io_share"});
  else if (const auto iowait = facts.number("host.iowait_pct"); iowait && *iowait > 5)
    opinion.supports(weight::kFair, fmt::format("CPUs stand idle for storage {:.0f} % of the time", *iowait),
                     {"host.iowait_pct"});
  if (const auto running = facts.number("loader.workers_running_share"); running && *running > 0.7)
    opinion.speaks_against(weight::kStrong, fmt::format("workers compute {:.0f} % of the time", 100 * *running),
                           {"loader.workers_running_share"});
  if (const auto workers = facts.number("loader.workers");
      workers && *workers >= 8 && wait && wait->value >= kWorthMentioning)
    opinion.supports(weight::kWeak, fmt::format("it waits in spite of {:.0f} workers", *workers), {"loader.workers"});
  if (const auto cores = idle_cores(facts); cores && cores->value > 0.5 && wait && wait->value > 0.3)
    opinion.supports(weight::kWeak, cores->text + ": the wait is not for CPUs", cores->facts);
  return true;
}

void judge_medium(const FactSheet& facts, Opinion& opinion, Medium wanted, std::string_view words) {
  const auto medium = medium_of(facts);
  if (medium == Medium::unknown)
    opinion.speaks_against(weight::kWeak, "what the data lie on is not known", {})
        .wants("host.data_storage", weight::kStrong);
  else if (medium == wanted)
    opinion.fits(weight::kStrong, fmt::format("the data lie on {}", words), {"host.data_storage"});
  else
    opinion.rules_out(fmt::format("the data lie on {}", *facts.text("host.data_storage")), {"host.data_storage"});
}

void judge_hard_disk(const FactSheet& facts, Opinion& opinion) {
  judge_medium(facts, opinion, Medium::hard_disk, "a hard disk");
  judge_reads(facts, opinion);
}

void judge_network_storage(const FactSheet& facts, Opinion& opinion) {
  judge_medium(facts, opinion, Medium::network, "a network file system or object store");
  judge_reads(facts, opinion);
}

void judge_slow_storage(const FactSheet& facts, Opinion& opinion) {
  if (const auto medium = medium_of(facts); medium == Medium::hard_disk || medium == Medium::network)
    opinion.speaks_against(weight::kStrong, "the kind of storage is known: " + *facts.text("host.data_storage"),
                           {"host.data_storage"});
  judge_reads(facts, opinion);
}

void judge_checkpoint(const FactSheet& facts, Opinion& opinion) {
  const auto share = facts.number("step.checkpoint_share");
  if (share && *share < 0.01)
    return void(opinion.rules_out(fmt::format("checkpoints take {:.1f} % of the time", 100 * *share),
                                  {"step.checkpoint_share"}));
  if (share)
    opinion.supports(*share >= kWorthMentioning ? weight::kDecisive : weight::kFair,
                     fmt::format("steps stand still for checkpoints {:.0f} % of the time", 100 * *share),
                     {"step.checkpoint_share"});
  else
    opinion.wants("step.checkpoint_share", weight::kDecisive);
  const auto every = facts.number("step.stall_every_steps"), checkpoints = facts.number("job.checkpoint_every_steps");
  if (every && checkpoints)
    std::abs(*every - *checkpoints) <= 0.1 * *checkpoints
        ? opinion.supports(weight::kStrong, fmt::format("a pause every {:.0f} steps, as often as a checkpoint", *every),
                           {"step.stall_every_steps", "job.checkpoint_every_steps"})
        : opinion.speaks_against(
              weight::kStrong,
              fmt::format("a pause every {:.0f} steps, a checkpoint every {:.0f}", *every, *checkpoints),
              {"step.stall_every_steps", "job.checkpoint_every_steps"});
  else if (every)
    opinion.supports(weight::kWeak, fmt::format("a pause every {:.0f} steps", *every), {"step.stall_every_steps"})
        .wants("job.checkpoint_every_steps", weight::kStrong);
  if (facts.text_holds("job.stalls_at", "checkpoint").value_or(false))
    opinion.supports(weight::kStrong, "the job stands still at checkpoints", {"job.stalls_at"});
}

std::optional<double> input_share(const FactSheet& facts) { return facts.number("step.data_wait_share"); }
std::optional<double> checkpoint_share(const FactSheet& facts) { return facts.number("step.checkpoint_share"); }

constexpr std::string_view kCloser =
    "copy the data to a local NVMe disk or into memory before training; pack small files into shards (tar, record "
    "files) "
    "and read them in order";

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"data:slow-storage", "D3", "the loader waits for storage", prior::kUsual, "step.data_wait_share",
     judge_slow_storage, kCloser, "user", "room for the data", "read from the former place", nullptr, input_share},
    {"data:slow-storage-hdd", "D3", "the loader waits for a hard disk", prior::kUsual, "step.data_wait_share",
     judge_hard_disk, kCloser, "user", "room for the data", "read from the former place", nullptr, input_share},
    {"data:slow-storage-network", "D4", "the loader waits for a network file system", prior::kUsual,
     "step.data_wait_share", judge_network_storage, kCloser, "user", "room on a local disk",
     "read from the network again", nullptr, input_share},
    {"io:synchronous-checkpoint", "C6", "all ranks stand still while a checkpoint is written", prior::kUsual,
     "step.checkpoint_share", judge_checkpoint,
     "copy the state to host memory and write it in a thread of its own (torch.distributed.checkpoint.async_save); "
     "write to "
     "a local disk first; write less often",
     "user", "host memory for one more copy of the state", "write synchronously again", nullptr, checkpoint_share},
});

}  // namespace

std::span<const CauseInfo> storage_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis
