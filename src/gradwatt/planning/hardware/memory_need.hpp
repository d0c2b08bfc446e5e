// What a replica of a model needs of device memory in data-parallel training, and the largest local batch that leaves.
//
//   MemoryNeed need = memory_need({.parameters = 25.6e6, .optimizer = Optimizer::sgd_momentum,
//                                  .activation_bytes_per_sample = 90e6});
//   core::Result<LocalBatch> most = largest_local_batch(need, *catalog::find_gpu("A100 SXM4 40GB"));
//
// Model: parameters, gradients and optimizer state count bytes a parameter; activations grow with the local batch;
// what framework and libraries keep is a constant, and a share of the device stays free.
// Range: replicas that fit one device, or are cut evenly over `shards` devices. Known error: the parts that count bytes
// a parameter are exact; activations from one or two measured peaks hold near the measured batch, within the rounding
// of the framework's allocator (a few per cent); never estimated from the model's shape here. An estimate, to be tried.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gradwatt/catalog/gpu_table.hpp"
#include "gradwatt/core/result.hpp"

namespace gradwatt::planning {

enum class Optimizer : std::uint8_t { sgd, sgd_momentum, lars, adam, lamb };
/// Numbers that the optimizer keeps beside each parameter: none, one (momentum), two (both moments); always fp32.
[[nodiscard]] int state_numbers(Optimizer optimizer);
[[nodiscard]] std::optional<Optimizer> optimizer_from(
    std::string_view name);  ///< as in recipes: "sgd", "adamw", "lars"

enum class Precision : std::uint8_t {
  fp32,      ///< and TF32, which changes the rate and no size
  autocast,  ///< fp32 parameters and gradients; the half-precision copy of the parameters is kept within a step
  half,      ///< parameters and gradients in half precision, an fp32 master copy in the optimizer
};

struct MemoryInputs {
  double parameters = 0;  ///< of the whole model
  Optimizer optimizer = Optimizer::sgd_momentum;
  Precision precision = Precision::fp32;
  /// One more copy of the gradients: PyTorch's DDP without gradient_as_bucket_view, gradwatt's own trainer.
  bool gradient_buckets = true;
  /// Kept from forward to backward pass for one sample, without checkpointing, in the precision that is used.
  std::optional<double> activation_bytes_per_sample;
  /// Layers of equal size where activations are recomputed from checkpoints (sqrt(layers) of them); nothing: they are
  /// kept.
  std::optional<int> checkpointed_layers;
  int shards = 1;  ///< devices that one replica is cut over (tensor or pipeline parallel width)
};

/// Context of CUDA, workspaces of cuDNN and cuBLAS, buffers of NCCL. Contexts alone are seen at 0.3–0.5 GB (nvidia-smi
/// beside an idle PyTorch process on A100 and H100); an assumption, rather high than low.
inline constexpr double kFrameworkReserve_bytes = 1.5e9;
/// Stays free: the margin that Lightning's batch finder keeps against the allocator's rounding.
inline constexpr double kFreeShare = 0.05;

struct MemoryNeed {
  double parameters_bytes = 0, half_copy_bytes = 0, gradient_bytes = 0, bucket_bytes = 0, optimizer_bytes = 0;
  double reserve_bytes = kFrameworkReserve_bytes;
  std::optional<double> per_sample_bytes;  ///< after checkpointing
  double recompute_share = 0;              ///< of a step's arithmetic that checkpointing adds: one more forward pass

  [[nodiscard]] double fixed_bytes() const {
    return parameters_bytes + half_copy_bytes + gradient_bytes + bucket_bytes + optimizer_bytes + reserve_bytes;
  }
};
[[nodiscard]] MemoryNeed memory_need(const MemoryInputs& inputs);

/// "parameters 0.41 GB, gradients 0.41 GB, …": for messages and reports; parts of nothing are left out.
[[nodiscard]] std::string describe(const MemoryNeed& need);

struct PeakMemory {
  double local_batch, peak_bytes;  ///< highest that the process used at this local batch
};
/// Activations of one sample from measured peaks: the slope through two or more batches, else what one peak holds
/// beyond `need.fixed_bytes()`. Nothing where the peaks do not grow with the batch: an allocator that keeps what it
/// once had.
[[nodiscard]] std::optional<double> activations_from(std::span<const PeakMemory> peaks, const MemoryNeed& need);

struct LocalBatch {
  int samples = 0;
  double used_bytes = 0;    ///< at that batch
  double usable_bytes = 0;  ///< of the device, without the share that stays free
};
/// Largest multiple of `step` that fits. Fails with a sentence that names the limit: memory of the GPU not known,
/// activations not known, the model alone does not fit (and over how many devices it would), no sample fits.
[[nodiscard]] core::Result<LocalBatch> largest_local_batch(const MemoryNeed& need, const catalog::GpuRow& gpu,
                                                           int step = 1);

}  // namespace gradwatt::planning
