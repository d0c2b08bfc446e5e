// How ranks are kept together: collectives that are too many or too small, batch norm over all ranks, one process for
// all GPUs, collectives that never end.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

/// DistributedDataParallel's own default, and what one collective should at least carry.
constexpr double kDefaultBucket_bytes = 25.0 * 1024 * 1024;
constexpr double kSmallCollective_bytes = 1024.0 * 1024;

bool expect_several_ranks(const FactSheet& facts, Opinion& opinion) {
  const auto several = several_ranks(facts);
  if (several && !*several) opinion.rules_out("there is one rank", {"job.world_size"});
  return !several || *several;
}

void judge_small_buckets(const FactSheet& facts, Opinion& opinion) {
  if (!expect_several_ranks(facts, opinion)) return;
  const auto cap = facts.number("ddp.bucket_cap_bytes");
  if (cap && *cap < kSmallCollective_bytes)
    opinion.supports(weight::kDecisive,
                     fmt::format("gradients go in buckets of {:.3g} KiB (default 25 MiB)", *cap / 1024),
                     {"ddp.bucket_cap_bytes"});
  else if (cap && *cap >= 0.5 * kDefaultBucket_bytes)
    opinion.speaks_against(weight::kFair, fmt::format("buckets hold {:.0f} MiB", *cap / 1048576),
                           {"ddp.bucket_cap_bytes"});
  const auto count = facts.number("comm.collectives_per_step"), bytes = facts.number("comm.bytes_per_step");
  if (count && bytes && *count >= 20 && *bytes / *count < kSmallCollective_bytes)
    opinion.supports(weight::kStrong,
                     fmt::format("{:.0f} collectives a step carry {:.3g} KiB each", *count, *bytes / *count / 1024),
                     {"comm.collectives_per_step", "comm.bytes_per_step"});
  else if (!count && !cap)
    opinion.wants("comm.collectives_per_step", weight::kStrong).wants("ddp.bucket_cap_bytes", weight::kStrong);
}

void judge_unused_parameters(const FactSheet& facts, Opinion& opinion) {
  if (!expect_several_ranks(facts, opinion)) return;
  const auto searched = facts.is("ddp.find_unused_parameters");
  if (!searched) return void(opinion.wants("ddp.find_unused_parameters", weight::kStrong));
  if (!*searched)
    return void(opinion.rules_out("DistributedDataParallel does not search for unused parameters",
                                  {"ddp.find_unused_parameters"}));
  opinion.supports(weight::kStrong + weight::kWeak,
                   "DistributedDataParallel walks the graph in each step for unused parameters",
                   {"ddp.find_unused_parameters"});
}

void judge_sync_batch_norm(const FactSheet& facts, Opinion& opinion) {
  if (!expect_several_ranks(facts, opinion)) return;
  const auto on = facts.is("job.sync_batch_norm");
  if (on && !*on) return void(opinion.rules_out("batch norm is not synchronised", {"job.sync_batch_norm"}));
  if (!on)
    opinion.wants("job.sync_batch_norm", weight::kStrong);
  else
    opinion.fits(weight::kStrong, "batch norm takes its statistics over all ranks", {"job.sync_batch_norm"});
  const auto both = sized(facts, "scaling.step_s", "sync_batch_norm");
  if (both.size() == 2 && both.front().value > 0)
    both.back().value > 1.1 * both.front().value
        ? opinion.supports(
              weight::kDecisive,
              fmt::format("with it a step takes {:.3g} s instead of {:.3g} s", both.back().value, both.front().value),
              {"scaling.step_s"})
        : opinion.rules_out("without it a step takes as long", {"scaling.step_s"});
  if (const auto exposed = exposed_communication(facts); exposed && exposed->value > 0.1 && on)
    opinion.supports(weight::kWeak, exposed->text, exposed->facts);
  if (const auto count = facts.number("comm.collectives_per_step"); count && *count > 50 && on)
    opinion.supports(weight::kFair, fmt::format("{:.0f} collectives a step", *count), {"comm.collectives_per_step"});
}

void judge_data_parallel(const FactSheet& facts, Opinion& opinion) {
  const auto kind = facts.text("job.parallelism");
  if (kind && *kind != "dataparallel" && *kind != "dp")
    return void(opinion.rules_out("ranks share the work by " + *kind, {"job.parallelism"}));
  if (kind)
    opinion.supports(weight::kDecisive, "one process drives all GPUs (torch.nn.DataParallel)", {"job.parallelism"});
  else if (const auto ranks = facts.number("job.world_size"), gpus = facts.number("gpu.count");
           ranks && gpus && *ranks == 1 && *gpus > 1)
    opinion.supports(weight::kFair, fmt::format("one rank, {:.0f} GPUs", *gpus), {"job.world_size", "gpu.count"})
        .wants("job.parallelism", weight::kStrong);
  else
    opinion.wants("job.parallelism", weight::kDecisive);
  if (const auto gained = scaling(facts, "gpus"); gained && gained->value < 0.8)
    opinion.supports(weight::kWeak, gained->text, gained->facts);
}

void judge_gloo(const FactSheet& facts, Opinion& opinion) {
  const auto backend = facts.text("job.backend");
  if (!backend) return void(opinion.wants("job.backend", weight::kStrong));
  if (*backend != "gloo" && *backend != "mpi")
    return void(opinion.rules_out("the backend is " + *backend, {"job.backend"}));
  const auto gpus = facts.number("gpu.count");
  if (!gpus || *gpus == 0)
    return void(opinion.rules_out("ranks train on CPUs: " + *backend + " is right there", {"job.backend"}));
  opinion.supports(weight::kDecisive, "gradients of GPUs go through " + *backend, {"job.backend"});
}

bool at_idle_power(const FactSheet& facts) {
  const auto level = power_level(facts);
  return (level && level->value < 0.15) || facts.text_holds("gpu.power_class", "idle").value_or(false);
}

void judge_hang(const FactSheet& facts, Opinion& opinion) {
  const auto stuck = hang(facts);
  if (!stuck) {
    if (facts.has("step.time_s")) return void(opinion.rules_out("steps go on", {"step.time_s"}));
    return void(opinion.wants("job.no_progress_s", weight::kStrong));
  }
  const bool somewhere = stuck->facts.front() == "job.hangs";
  opinion.supports(somewhere ? weight::kFair : weight::kStrong, stuck->text, stuck->facts);
  if (somewhere) opinion.wants("comm.hangs", weight::kStrong);
  if (facts.text_holds("job.stalls_at", "start").value_or(false))
    opinion.speaks_against(weight::kFair, "it stands still in the first collective: look at the path first",
                           {"job.stalls_at"});
  if (const auto busy = facts.number("gpu.utilization_pct"); busy && *busy > 95 && at_idle_power(facts))
    opinion.supports(weight::kWeak, fmt::format("{:.0f} % utilisation at idle power: kernels spin", *busy),
                     {"gpu.utilization_pct"});
  for (const std::string_view name : {"host.acs", "host.iommu", "comm.hangs_without_p2p"})
    if (facts.has(name))
      opinion.speaks_against(weight::kFair, "what may break peer-to-peer is known", {std::string(name)});
}

void judge_spin(const FactSheet& facts, Opinion& opinion) {
  const auto busy = facts.number("gpu.utilization_pct");
  if (!busy) return void(opinion.wants("gpu.utilization_pct", weight::kFair));
  if (*busy < 90)
    return void(opinion.rules_out(fmt::format("GPUs report {:.0f} % utilisation", *busy), {"gpu.utilization_pct"}));
  if (!power_level(facts) && !facts.has("gpu.power_class"))
    return void(opinion.wants("gpu.power_avg_w", weight::kStrong));
  if (!at_idle_power(facts))
    return void(opinion.rules_out("GPUs draw more than a spinning kernel", {"gpu.power_avg_w"}));
  opinion.supports(weight::kStrong, fmt::format("{:.0f} % utilisation at idle power: a kernel waits for a flag", *busy),
                   {"gpu.utilization_pct", "gpu.power_avg_w"});
  if (facts.text_holds("job.parallelism", "tensor").value_or(false) ||
      facts.text_holds("job.kind", "inference").value_or(false))
    opinion.supports(weight::kFair, "engines with own all-reduce kernels over PCIe wait like that",
                     {"job.parallelism", "job.kind"});
  for (const std::string_view path : {"phb", "sys", "node"})
    if (facts.text_holds("comm.topology", path).value_or(false)) {
      opinion.supports(weight::kWeak, "GPUs reach each other over the host bridge", {"comm.topology"});
      break;
    }
  if (facts.has("step.time_s")) opinion.speaks_against(weight::kStrong, "steps go on", {"step.time_s"});
}

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"sync:small-buckets", "N11", "gradients go in many small collectives", prior::kUsual, "comm.collectives_per_step",
     judge_small_buckets,
     "DistributedDataParallel(bucket_cap_mb=25, gradient_as_bucket_view=True); static_graph=True where the graph never "
     "changes",
     "user", "", "the former bucket_cap_mb", nullptr, exposed_share},
    {"sync:unused-parameters", "N11", "DistributedDataParallel searches for unused parameters in each step",
     prior::kUsual, "step.time_s", judge_unused_parameters,
     "find_unused_parameters=False (static_graph=True where parameters are unused in the same way each time)", "user",
     "each parameter gets a gradient in each step", "find_unused_parameters=True", nullptr, nullptr},
    {"sync:sync-batchnorm", "N11", "batch norm waits for all ranks in each layer", prior::kUsual,
     "comm.collectives_per_step", judge_sync_batch_norm,
     "a larger local batch with ordinary batch norm, or group norm; a newer torch with the fused SyncBatchNorm", "user",
     "accuracy is checked: local statistics differ from global ones", "convert_sync_batchnorm again", nullptr,
     exposed_share},
    {"software:dataparallel-single-process", "N11", "one process drives all GPUs", prior::kUsual, "step.samples_per_s",
     judge_data_parallel, "DistributedDataParallel with one process a GPU, started by torchrun --nproc-per-node=GPUS",
     "user", "", "DataParallel", nullptr, nullptr},
    {"config:gloo-backend", "N12", "GPU gradients are exchanged through the CPU", prior::kRare,
     "step.comm_exposed_share", judge_gloo, "init_process_group(\"nccl\")", "user", "", "the former backend", nullptr,
     exposed_share},
    {"sync:hang", "N13", "the job hangs in a collective", prior::kUsual, "job.no_progress_s", judge_hang,
     "take stacks of all ranks (py-spy dump) and the flight recorder (TORCH_NCCL_TRACE_BUFFER_SIZE) to find the rank "
     "that is missing or calls another collective, then mend that; "
     "a barrier in each step only hides it",
     "user", "", "", nullptr, nullptr},
    {"sync:p2p-flag-never-seen", "N13", "a kernel waits for a flag of its peer that never arrives", prior::kRare,
     "gpu.power_avg_w", judge_spin,
     "to prove it: NCCL_P2P_DISABLE=1 and the engine's own all-reduce off (vLLM: --disable-custom-all-reduce); then "
     "mend peer-to-peer (ACS, IOMMU, driver)",
     "user", "", "unset both", nullptr, nullptr},
});

}  // namespace

std::span<const CauseInfo> synchronisation_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis
