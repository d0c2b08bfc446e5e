#include "gradwatt/planning/hardware/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gradwatt::planning {
namespace {

using catalog::GpuCell;
using catalog::GpuRow;

/// A wait that takes a fifth of each step holds the job more than anything the device does: removing it gains a
/// quarter.
constexpr double kWaits = 0.2;
/// Memory-bound when memory is busy and tensor cores are not; the rates at which monitors of NVIDIA's own counters call
/// it so (DRAM over 60 %, tensor below 15 %).
constexpr double kMemoryBusy = 0.6, kTensorIdle = 0.15;
/// Arithmetic holds when most multiprocessors have work all the time (DCGM's advice: 0.8 is effective use).
constexpr double kMultiprocessorsBusy = 0.8;

struct ArithmeticRow {
  Arithmetic arithmetic;
  std::string_view name;
  GpuCell catalog::GpuPeak::*peak;
};
constexpr auto kArithmetic = std::to_array<ArithmeticRow>({
    {Arithmetic::fp32, "fp32", &catalog::GpuPeak::fp32_tflops},
    {Arithmetic::tf32, "tf32", &catalog::GpuPeak::tf32_tflops},
    {Arithmetic::bf16, "bf16", &catalog::GpuPeak::bf16_tflops},
    {Arithmetic::fp16, "fp16", &catalog::GpuPeak::fp16_tflops},
});
const ArithmeticRow& row_of(Arithmetic arithmetic) {
  return *std::ranges::find(kArithmetic, arithmetic, &ArithmeticRow::arithmetic);
}

std::optional<Classified> by_waiting(const Workload& work) {
  const double data = work.data_wait_share.value_or(0), others = work.comm_exposed_share.value_or(0);
  if (std::max(data, others) < kWaits) return std::nullopt;
  if (data >= others)
    return Classified{Bound::input, fmt::format("{:.0f} % of a step waits for its batch", 100 * data)};
  return Classified{Bound::communication, fmt::format("{:.0f} % of a step waits for other ranks", 100 * others)};
}

std::optional<Classified> by_activity(const Workload& work) {
  const auto dram = work.dram_active_share, tensor = work.tensor_active_share, sm = work.sm_active_share;
  if (dram && *dram > kMemoryBusy && tensor.value_or(0) < kTensorIdle)
    return Classified{Bound::memory, fmt::format("{:.0f} % of the memory bandwidth is in use{}", 100 * *dram,
                                                 tensor ? fmt::format(", tensor cores {:.0f} %", 100 * *tensor) : "")};
  if (sm && *sm >= kMultiprocessorsBusy && dram && *dram <= kMemoryBusy)
    return Classified{Bound::compute, fmt::format("multiprocessors are active {:.0f} % of the time, memory {:.0f} %",
                                                  100 * *sm, 100 * *dram)};
  return std::nullopt;
}

std::optional<Classified> by_counting(const Workload& work, const GpuRow& gpu) {
  const auto ridge = ridge_flops_per_byte(gpu, work.arithmetic);
  if (!ridge || !work.flops_per_sample || !work.bytes_per_sample || *work.bytes_per_sample <= 0) return std::nullopt;
  const double intensity = *work.flops_per_sample / *work.bytes_per_sample;
  return Classified{
      intensity >= *ridge ? Bound::compute : Bound::memory,
      fmt::format("{:.0f} operations a byte, {} {:.0f} where {} turns from memory to arithmetic ({})", intensity,
                  intensity >= *ridge ? "above the" : "below the", *ridge, gpu.name, name_of(work.arithmetic))};
}

std::optional<double> ratio(const std::optional<double>& from, const std::optional<double>& to) {
  return from && to && *from > 0 ? std::optional(*to / *from) : std::nullopt;
}

}  // namespace

std::string_view name_of(Arithmetic arithmetic) { return row_of(arithmetic).name; }

std::string_view name_of(Bound bound) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"compute-bound", "memory-bound", "input-bound", "communication-bound", "undecided"});
  return kNames.at(static_cast<std::size_t>(bound));
}

std::optional<double> peak_flops_per_s(const GpuRow& gpu, Arithmetic arithmetic) {
  const auto& cell = gpu.peak.*row_of(arithmetic).peak;
  return cell ? std::optional(cell->value * 1e12) : std::nullopt;
}

std::optional<double> ridge_flops_per_byte(const GpuRow& gpu, Arithmetic arithmetic) {
  const auto peak = peak_flops_per_s(gpu, arithmetic);
  if (!peak || !gpu.memory.gb_per_s) return std::nullopt;
  return *peak / (gpu.memory.gb_per_s->value * 1e9);
}

Classified classify(const Workload& work, const GpuRow& gpu) {
  if (auto waits = by_waiting(work)) return *waits;
  if (auto active = by_activity(work)) return *active;
  if (auto counted = by_counting(work, gpu)) return *counted;
  return {Bound::undecided,
          "neither the device's activity (SM, tensor, DRAM) nor the operations and bytes of a sample are known; "
          "`gradwatt run` on a GPU with profiling counters gives the first, a trace the second"};
}

std::optional<Speedup> speedup(const Workload& work, const GpuRow& from, const GpuRow& to) {
  const auto compute = ratio(peak_flops_per_s(from, work.arithmetic), peak_flops_per_s(to, work.arithmetic));
  const auto memory = ratio(catalog::value_of(from.memory.gb_per_s), catalog::value_of(to.memory.gb_per_s));
  const auto bound = classify(work, from).bound;
  std::optional<double> device = bound == Bound::memory ? memory : compute;
  // What is not known to be one of the two may be either: the range spans both.
  std::optional<double> other = bound == Bound::memory || bound == Bound::compute ? device : memory;
  if (!device || !other) return std::nullopt;
  const double waits = std::clamp(work.data_wait_share.value_or(0) + work.comm_exposed_share.value_or(0), 0.0, 1.0);
  const auto with_waits = [&](double gain) { return 1 / (waits + (1 - waits) / gain); };  // Amdahl's law
  // One end is no change: a program that its host or its launches hold back gains, or loses, nothing.
  Speedup out;
  out.low = with_waits(std::min({1.0, *device, *other}));
  out.high = with_waits(std::max({1.0, *device, *other}));
  out.middle = std::sqrt(out.low * out.high);
  return out;
}

}  // namespace gradwatt::planning
