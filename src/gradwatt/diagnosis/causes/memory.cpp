// Memory of host and GPU that runs short.
#include <fmt/format.h>

#include <array>

#include "gradwatt/diagnosis/causes/cause.hpp"
#include "gradwatt/diagnosis/symptoms.hpp"

namespace gradwatt::diagnosis {
namespace {

void judge_host_memory(const FactSheet& facts, Opinion& opinion) {
  const auto pressure = facts.number("host.pressure_memory_share"), shm = facts.number("host.shm_used_share");
  if (!pressure && !shm) return void(opinion.wants("host.pressure_memory_share", weight::kDecisive));
  if (pressure && *pressure < 0.01 && (!shm || *shm < 0.9))
    return void(opinion.rules_out("no thread waits for memory", {"host.pressure_memory_share"}));
  if (pressure && *pressure >= 0.01)
    opinion.supports(*pressure > 0.05 ? weight::kDecisive : weight::kFair,
                     fmt::format("some thread waits for memory {:.0f} % of the time", 100 * *pressure),
                     {"host.pressure_memory_share"});
  if (shm && *shm >= 0.9)
    opinion.supports(weight::kStrong, fmt::format("/dev/shm is {:.0f} % full", 100 * *shm), {"host.shm_used_share"});
}

void judge_allocator(const FactSheet& facts, Opinion& opinion) {
  const auto calls = facts.number("trace.allocations_per_step");
  if (!calls) return void(opinion.wants("trace.allocations_per_step", weight::kStrong));
  if (*calls < 0.5)
    return void(
        opinion.rules_out("no memory is taken from the driver in steady state", {"trace.allocations_per_step"}));
  opinion.supports(*calls >= 4 ? weight::kStrong : weight::kFair,
                   fmt::format("{:.1f} cudaMalloc and cudaFree calls a step", *calls), {"trace.allocations_per_step"});
  if (const auto used = facts.number("gpu.memory_used_share"))
    *used > 0.9 ? opinion.supports(weight::kFair, fmt::format("GPU memory is {:.0f} % full", 100 * *used),
                                   {"gpu.memory_used_share"})
                : opinion.speaks_against(weight::kFair, fmt::format("GPU memory is only {:.0f} % full", 100 * *used),
                                         {"gpu.memory_used_share"});
}

std::optional<double> pressure_share(const FactSheet& facts) { return facts.number("host.pressure_memory_share"); }

constexpr auto kCauses = std::to_array<CauseInfo>({
    {"host:memory-pressure", "D7", "the host runs short of memory", prior::kUsual, "host.pressure_memory_share",
     judge_host_memory,
     "fewer workers × prefetch_factor, a larger /dev/shm (docker --shm-size, --ipc=host), no swap for the job", "user",
     "", "the former settings", nullptr, pressure_share},
    {"compute:allocator-thrash", "C9", "GPU memory is allocated and freed in every step", prior::kRare,
     "trace.allocations_per_step", judge_allocator,
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; activation checkpointing; a smaller local batch with "
     "accumulation",
     "user", "a changed batch needs the learning rate checked", "unset it", nullptr, nullptr},
});

}  // namespace

std::span<const CauseInfo> memory_causes() { return kCauses; }

}  // namespace gradwatt::diagnosis
