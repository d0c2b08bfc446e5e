// Readings of the fact sheet that several causes share. One symptom may be told by several witnesses (the job's marks,
// a trace, counters); it counts once, by the best witness, so that the same observation never adds up as two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gradwatt/diagnosis/fact_sheet.hpp"

namespace gradwatt::diagnosis {

struct Symptom {
  double value = 0;
  std::string text;                ///< with its figures
  std::vector<std::string> facts;  ///< that it was read from
};

/// Part of the step that waits for its batch, 0 to 1.
[[nodiscard]] std::optional<Symptom> input_wait(const FactSheet& facts);
/// Part of the step that waits for other ranks or the network, 0 to 1.
[[nodiscard]] std::optional<Symptom> exposed_communication(const FactSheet& facts);
/// The same figure alone: the ceiling of what better communication can gain.
[[nodiscard]] std::optional<double> exposed_share(const FactSheet& facts);
/// CPUs that the job may use: quota and affinity, else those of the host.
[[nodiscard]] std::optional<double> usable_cpus(const FactSheet& facts);
/// Part of the time in which GPUs run no kernel, 0 to 1.
[[nodiscard]] std::optional<Symptom> gpu_gaps(const FactSheet& facts);
/// Power between idle (0) and limit (1). Without an idle figure a tenth of the limit stands for it.
[[nodiscard]] std::optional<Symptom> power_level(const FactSheet& facts);
/// Kernels are resident all the time and draw little: waiting or little work. The value is the power level.
[[nodiscard]] std::optional<Symptom> busy_at_low_power(const FactSheet& facts);
/// CPUs that the job may use and does not, over those that it may use, 0 to 1.
[[nodiscard]] std::optional<Symptom> idle_cores(const FactSheet& facts);
/// Speed-up from the smallest to the largest size told, over the ideal one. `what`: "gpus", "nodes".
[[nodiscard]] std::optional<Symptom> scaling(const FactSheet& facts, std::string_view what);
/// Several hosts take part.
[[nodiscard]] std::optional<bool> several_hosts(const FactSheet& facts);
/// Several ranks take part.
[[nodiscard]] std::optional<bool> several_ranks(const FactSheet& facts);
/// The parameters lie in host memory: CPUs are what computes. False where it is not known.
[[nodiscard]] bool trains_on_cpus(const FactSheet& facts);
/// The job stands still. The first fact named says how much is known: comm.hangs a collective, job.hangs no place.
[[nodiscard]] std::optional<Symptom> hang(const FactSheet& facts);
/// Whether that GPU was seen at rest: limits, links and reasons then say nothing about a job. False where nothing is
/// known.
[[nodiscard]] bool at_rest(const FactSheet& facts, std::string_view gpu);
/// One GPU works while all others only keep a few blocks resident: they wait for it. The value is its share of active
/// SM cycles over that of the others. NCCL's waiting kernels hold one block a channel, 16 to 32 of over 100 SMs.
[[nodiscard]] std::optional<Symptom> odd_gpu(const FactSheet& facts);
/// Consumer cards that lack peer-to-peer over PCIe (GeForce RTX 40 and 50 series).
[[nodiscard]] std::optional<bool> consumer_gpu(const FactSheet& facts);
/// Cards of servers that are sold with NVLink, and nearly always with RDMA between the hosts.
[[nodiscard]] std::optional<bool> server_gpu(const FactSheet& facts);
/// Some batches are waited for many times as long as the average one. The value is longest over mean.
[[nodiscard]] std::optional<Symptom> bursty_input_wait(const FactSheet& facts);
/// The job is slower as a whole on several hosts than on one: told by figures or in words.
[[nodiscard]] std::optional<Symptom> slower_on_more_hosts(const FactSheet& facts);
/// From there on waiting is worth a word: what the PyTorch profiler's own advice used for loaders (5 %).
inline constexpr double kWorthMentioning = 0.05;

}  // namespace gradwatt::diagnosis
