#include "gradwatt/record/fact.hpp"

#include <algorithm>
#include <array>

namespace gradwatt::record {
namespace {

constexpr auto kFacts = std::to_array<FactInfo>({
    // what gradwatt itself cost and saw
    {"sampler.cpu_s", "s", "host", "CPU time of gradwatt's own threads (sampler, writer)"},
    {"sampler.rss_bytes", "bytes", "host", "largest resident memory of gradwatt itself"},
    {"sampler.ticks", "", "host", "sampling ticks done"},
    {"sampler.late_ticks", "", "host", "ticks that began more than a tenth of the period late"},
    {"sampler.rows_lost", "", "host", "rows that could not be written"},
    {"sampler.interval_s", "s", "host", "sampling period asked for"},
    {"sensor.call_latency_s", "s", "device", "median time of one reading"},
    {"sensor.call_latency_max_s", "s", "device", "longest reading"},
    {"sensor.open_s", "s", "host", "time until the source was open"},
    {"sensor.update_period_s", "s", "device", "measured time between changes of the source's value"},
    {"sensor.absent", "", "host", "a source that is not used, and why"},
    // the job, from the agent or the launcher
    {"job.world_size", "", "job", "ranks of the data-parallel job"},
    {"job.framework", "", "process", "training framework and version"},
    {"job.backend", "", "process", "collective backend of the process group"},
    {"job.optimizer", "", "process", "optimiser class"},
    {"job.global_batch_size", "", "job", "samples an optimiser step over all ranks"},
    {"job.local_batch_size", "", "rank", "samples a forward pass of one rank"},
    {"job.total_steps", "", "job", "optimiser steps that the whole job will take"},
    {"job.epochs", "", "job", "epochs that the whole job will take"},
    {"job.recipe", "", "job", "name of the recipe of `gradwatt train`"},
    {"job.model", "", "job", "model that is trained"},
    {"job.parameters", "", "job", "parameters that are trained, each counted once"},
    {"job.updates", "", "job", "optimiser steps that this run did"},
    {"job.samples", "", "job", "examples that this run trained on, over all ranks"},
    // what the training reached, at each evaluation
    {"result.loss", "", "job", "mean loss of the evaluation set"},
    {"result.accuracy_pct", "%", "job", "examples of the evaluation set that were classified right"},
    {"result.rmse", "", "job", "error of the forecast, weighted by area, in standard deviations of the data"},
    {"result.rmse_persistence", "", "job", "the same of the forecast that nothing changes"},
    {"result.rmse_climatology", "", "job", "the same of the forecast that all is as usual"},
    {"result.acc", "", "job", "anomaly correlation of the forecast, weighted by area"},
    {"result.acc_persistence", "", "job", "the same of the forecast that nothing changes"},
    {"ddp.bucket_cap_bytes", "bytes", "process", "gradient bucket size of DistributedDataParallel"},
    {"ddp.find_unused_parameters", "", "process", "DistributedDataParallel searches for unused parameters"},
    {"ddp.parameters", "", "process", "trainable parameters of the wrapped model"},
    {"ddp.parameter_bytes", "bytes", "process", "bytes of the trainable parameters"},
    {"ddp.static_graph", "", "process", "DistributedDataParallel was told that the graph never changes"},
    {"ddp.comm_s", "s", "process", "gradient communication in a backward pass, mean of those that the reducer timed"},
    {"ddp.comm_overlap_s", "s", "process", "part of ddp.comm_s during which the backward pass still computed"},
    {"loader.batches", "", "process", "batches that one pass of the training loader yields to this rank"},
    {"loader.workers", "", "process", "data-loader worker processes a rank"},
    {"loader.batch_size", "", "process", "batch size of the data loader"},
    {"loader.pin_memory", "", "process", "data loader pins its batches"},
    {"loader.prefetch_factor", "", "process", "batches prefetched by each worker"},
    {"loader.persistent_workers", "", "process", "workers stay alive between epochs"},
    {"torch.num_threads", "", "process", "intra-op CPU threads"},
    {"torch.amp", "", "process", "autocast data type in use"},
    {"agent.cpu_s", "s", "process", "CPU time that the agent took from the training thread"},
    {"agent.problem", "", "process", "why the agent went quiet"},
    // devices and node
    {"gpu.persistence_mode", "", "device", "driver stays loaded when no client is connected"},
    {"gpu.mig_mode", "", "device", "GPU is partitioned"},
    {"gpu.ecc_mode", "", "device", "memory error correction"},
    {"gpu.driver_version", "", "device", "NVIDIA driver version"},
    {"gpu.shared_share", "", "device", "share of the parent GPU by SM count of a MIG slice"},
    {"host.governor", "", "host", "CPU frequency governor"},
    {"host.cpus_allowed", "", "host", "CPUs that the job may use"},
    {"host.cpuset_cpus", "", "host", "CPUs in the cpuset of the job's control group"},
    {"host.cpu_quota", "", "host", "CPUs' worth of time that the tightest quota of the job's control groups allows"},
    {"host.cpu_budget", "", "host", "CPUs' worth of time that the job may use: quota or CPUs allowed, the smaller"},
    {"host.cgroup_version", "", "host", "control groups of the job: v1, v2, hybrid or none"},
    {"host.memory_bytes", "bytes", "host", "memory of the host"},
    {"host.memory_limit_bytes", "bytes", "host", "tightest memory limit of the job's control groups"},
    {"host.shm_bytes", "bytes", "host", "size of /dev/shm"},
});

constexpr bool names_are_unique() {
  for (std::size_t i = 0; i < kFacts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (kFacts[i].name == kFacts[j].name) return false;
  return true;
}
static_assert(names_are_unique());

}  // namespace

std::span<const FactInfo> fact_table() { return kFacts; }

const FactInfo* find_fact(std::string_view name) {
  const auto* it = std::ranges::find(kFacts, name, &FactInfo::name);
  return it != kFacts.end() ? it : nullptr;
}

}  // namespace gradwatt::record
