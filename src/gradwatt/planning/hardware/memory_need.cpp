#include "gradwatt/planning/hardware/memory_need.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gradwatt::planning {
namespace {

constexpr double kFull_bytes = 4, kHalf_bytes = 2;

struct OptimizerRow {
  std::string_view name;
  Optimizer optimizer;
  int numbers;
};
constexpr auto kOptimizers = std::to_array<OptimizerRow>({
    {"sgd", Optimizer::sgd_momentum, 1},  // recipes of "sgd" have momentum unless they say otherwise
    {"sgd-momentum", Optimizer::sgd_momentum, 1},
    {"sgd-plain", Optimizer::sgd, 0},
    {"lars", Optimizer::lars, 1},
    {"adam", Optimizer::adam, 2},
    {"adamw", Optimizer::adam, 2},
    {"lamb", Optimizer::lamb, 2},
});

/// A replica keeps sqrt(L) checkpoints and, at any time, the layers between two of them: 2·sqrt(L) of L layers (Chen et
/// al. 2016, arXiv 1604.06174). One more forward pass is a third of a step's arithmetic (backward is twice forward).
constexpr double kForwardShare = 1.0 / 3;

double kept_share(int layers) { return layers < 1 ? 1 : std::min(1.0, 2 / std::sqrt(static_cast<double>(layers))); }

double usable_bytes(double memory_gb) { return memory_gb * 1e9 * (1 - kFreeShare); }

struct Slope {
  double bytes_per_sample;
};
std::optional<Slope> slope_through(std::span<const PeakMemory> peaks) {
  double batch = 0, bytes = 0;
  for (const auto& p : peaks) batch += p.local_batch, bytes += p.peak_bytes;
  const auto n = static_cast<double>(peaks.size());
  batch /= n, bytes /= n;
  double above = 0, below = 0;
  for (const auto& p : peaks) {
    above += (p.local_batch - batch) * (p.peak_bytes - bytes);
    below += (p.local_batch - batch) * (p.local_batch - batch);
  }
  return below > 0 ? std::optional(Slope{above / below}) : std::nullopt;
}

}  // namespace

int state_numbers(Optimizer optimizer) {
  return std::ranges::find(kOptimizers, optimizer, &OptimizerRow::optimizer)->numbers;
}

std::optional<Optimizer> optimizer_from(std::string_view name) {
  const auto* row = std::ranges::find(kOptimizers, name, &OptimizerRow::name);
  return row != kOptimizers.end() ? std::optional(row->optimizer) : std::nullopt;
}

MemoryNeed memory_need(const MemoryInputs& inputs) {
  const double parameters = inputs.parameters / std::max(1, inputs.shards);
  const double weight_bytes = inputs.precision == Precision::half ? kHalf_bytes : kFull_bytes;
  MemoryNeed need;
  need.parameters_bytes = parameters * weight_bytes;
  need.gradient_bytes = parameters * weight_bytes;
  if (inputs.gradient_buckets) need.bucket_bytes = parameters * weight_bytes;
  if (inputs.precision == Precision::autocast) need.half_copy_bytes = parameters * kHalf_bytes;
  need.optimizer_bytes = parameters * kFull_bytes * state_numbers(inputs.optimizer);
  if (inputs.precision == Precision::half) need.optimizer_bytes += parameters * kFull_bytes;  // the master copy
  if (inputs.activation_bytes_per_sample) {
    need.per_sample_bytes = *inputs.activation_bytes_per_sample / std::max(1, inputs.shards);
    if (inputs.checkpointed_layers) *need.per_sample_bytes *= kept_share(*inputs.checkpointed_layers);
  }
  if (inputs.checkpointed_layers) need.recompute_share = kForwardShare;
  return need;
}

std::string describe(const MemoryNeed& need) {
  struct Part {
    std::string_view name;
    double bytes;
  };
  const auto parts = std::to_array<Part>({{"parameters", need.parameters_bytes},
                                          {"their half-precision copy", need.half_copy_bytes},
                                          {"gradients", need.gradient_bytes},
                                          {"their buckets", need.bucket_bytes},
                                          {"optimizer state", need.optimizer_bytes},
                                          {"framework and libraries (assumed)", need.reserve_bytes}});
  std::string text;
  for (const auto& part : parts)
    if (part.bytes > 0) text += fmt::format("{}{} {:.2f} GB", text.empty() ? "" : ", ", part.name, part.bytes / 1e9);
  return text;
}

std::optional<double> activations_from(std::span<const PeakMemory> peaks, const MemoryNeed& need) {
  if (peaks.empty()) return std::nullopt;
  const auto slope = slope_through(peaks);
  const double bytes = slope
                           ? slope->bytes_per_sample
                           : (peaks.front().peak_bytes - need.fixed_bytes()) / std::max(1.0, peaks.front().local_batch);
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

core::Result<LocalBatch> largest_local_batch(const MemoryNeed& need, const catalog::GpuRow& gpu, int step) {
  using core::Errc;
  if (!gpu.memory.gb)
    return core::fail(Errc::unusable_input,
                      fmt::format("memory of {} is not known; state it to plan a local batch on it", gpu.name));
  const double usable = usable_bytes(gpu.memory.gb->value);
  const double left = usable - need.fixed_bytes();
  if (left <= 0) {
    const double sharded = need.fixed_bytes() - need.reserve_bytes;
    const double room = usable - need.reserve_bytes;
    return core::fail(
        Errc::unusable_input,
        fmt::format("one replica needs {:.1f} GB before its first sample ({}), and {} has {:.1f} GB to "
                    "use; {}",
                    need.fixed_bytes() / 1e9, describe(need), gpu.name, usable / 1e9,
                    room > 0 ? fmt::format("cut it over {:.0f} GPUs or more, or take one with more memory",
                                           std::floor(sharded / room) + 1)
                             : std::string("take one with more memory")));
  }
  if (!need.per_sample_bytes || *need.per_sample_bytes <= 0)
    return core::fail(
        Errc::unusable_input,
        "memory that one sample's activations need is not known; profile one run at two local batches, or "
        "state it");
  const double fits = std::floor(left / *need.per_sample_bytes);
  const int samples = static_cast<int>(std::min(fits, 1e9)) / std::max(1, step) * std::max(1, step);
  if (samples < 1)
    return core::fail(
        Errc::unusable_input,
        fmt::format("{} sample{} need{} {:.1f} GB of activations, and {} has {:.1f} GB left beside the replica ({}); "
                    "checkpoint activations, or take a GPU with more memory",
                    step, step == 1 ? "" : "s", step == 1 ? "s" : "", step * *need.per_sample_bytes / 1e9, gpu.name,
                    left / 1e9, describe(need)));
  return LocalBatch{samples, need.fixed_bytes() + samples * *need.per_sample_bytes, usable};
}

}  // namespace gradwatt::planning
