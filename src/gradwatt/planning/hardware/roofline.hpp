// What holds a job back on its GPU: arithmetic, memory traffic, its input, or other ranks; and what that says about its
// speed on another GPU.
//
// Model: roofline (Williams, Waterman, Patterson 2009): a sample takes at least flops / peak and bytes / bandwidth. The
// larger is the class by counting; measured activity, where there is some, overrules counting, since it includes what
// the program makes of the device. Range: one device, steady state. Known error: from one GPU to another such models
// are weak (Habitat: 11.8 % on six GPUs of its time, hundreds of per cent on an H100, found by NeuSight's authors), and
// a published pair gained a third where the roofline allows more than twice (FourCastNet, A100 to H100: 25–30 % less
// time). So the gain is given as a range from nothing to the roofline's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gradwatt/catalog/gpu_table.hpp"

namespace gradwatt::planning {

enum class Arithmetic : std::uint8_t { fp32, tf32, bf16, fp16 };
[[nodiscard]] std::string_view name_of(Arithmetic arithmetic);
/// Peak of the GPU in operations a second; nothing where the table has none or the GPU cannot.
[[nodiscard]] std::optional<double> peak_flops_per_s(const catalog::GpuRow& gpu, Arithmetic arithmetic);

/// What is known of a job; everything may be missing.
struct Workload {
  Arithmetic arithmetic = Arithmetic::fp32;
  std::optional<double> flops_per_sample;  ///< forward and backward pass
  std::optional<double> bytes_per_sample;  ///< device memory read and written
  // Measured on the GPU that it runs on now, shares 0–1.
  std::optional<double> data_wait_share;     ///< of a step, waiting for its batch
  std::optional<double> comm_exposed_share;  ///< of a step, waiting for other ranks
  std::optional<double> dram_active_share;   ///< of memory bandwidth in use
  std::optional<double> tensor_active_share, sm_active_share;
};

enum class Bound : std::uint8_t { compute, memory, input, communication, undecided };
[[nodiscard]] std::string_view name_of(Bound bound);

struct Classified {
  Bound bound = Bound::undecided;
  std::string reason;  ///< with its figures; of undecided: what would decide
};
[[nodiscard]] Classified classify(const Workload& work, const catalog::GpuRow& gpu);

/// Operations a byte above which a GPU is limited by arithmetic: 201 for bf16 on an A100 with 40 GB.
[[nodiscard]] std::optional<double> ridge_flops_per_byte(const catalog::GpuRow& gpu, Arithmetic arithmetic);

/// How many times as fast `to` works as `from`, both full of work.
struct Speedup {
  double low = 1, middle = 1, high = 1;  ///< middle: geometric mean of the two ends
};
/// Waiting for input and other ranks does not get faster. Nothing where a peak that the class needs is missing.
[[nodiscard]] std::optional<Speedup> speedup(const Workload& work, const catalog::GpuRow& from,
                                             const catalog::GpuRow& to);

}  // namespace gradwatt::planning
