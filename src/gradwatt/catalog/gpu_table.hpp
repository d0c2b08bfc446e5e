// What is known of GPUs beforehand: memory, power limits, peak rates and links, each figure with its source. For plans
// of jobs on machines that are not here, and for rooflines. What the device itself says wins (with_live): names do not
// tell every product apart, and hosts change limits. A new GPU is one row in gpu_table.cpp.
//
//   const GpuRow* row = find_gpu("NVIDIA A100-SXM4-40GB");
//   if (row != nullptr && row->peak.bf16_tflops) use(row->peak.bf16_tflops->value);   // 312, from accelerator tables
//
// GB is 1e9 bytes, TFLOPS 1e12 operations a second, dense (vendors' headlines often double them for sparsity).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gradwatt::catalog {

/// Where one figure comes from, strongest first.
enum class GpuSource : std::uint8_t {
  live,          ///< the device or its driver said it on this machine
  data_sheet,    ///< the vendor's data sheet or architecture paper
  recalled,      ///< the vendor's data sheet as remembered: look it up before resting anything on it
  accelerators,  ///< stas00/ml-engineering, accelerator tables (August 2026), which cite the vendors
  driver_dump,   ///< nvidia-smi -q of such a device in a public repository (telegraf test data and others)
  zeus_traces,   ///< power traces of Zeus (NSDI 2023): limits that were set
  dcgm,          ///< DCGM 4.6, target power of its diagnostic
  field_report,  ///< one user's measurement in an issue
  derived,       ///< from other figures of the row: links from their total
  spec_page,     ///< specification page of a third party
  unconfirmed,   ///< stated in places without a source
};
/// "vendor's data sheet": ends the sentence "taken from the …".
[[nodiscard]] std::string_view words_of(GpuSource source);

struct GpuFigure {
  double value;
  GpuSource source;
};
using GpuCell = std::optional<GpuFigure>;  ///< nothing: not known; never a guess

[[nodiscard]] constexpr std::optional<double> value_of(const GpuCell& cell) {
  return cell ? std::optional(cell->value) : std::nullopt;
}

struct GpuMemory {
  GpuCell gb, gb_per_s;
};
struct GpuPower {
  GpuCell default_w, min_w, max_w;  ///< limit that the card comes with, and what may be set
  GpuCell idle_w;                   ///< board power without work, middle of what was seen
  GpuCell context_w;                ///< the same with a program's context loaded: what a waiting rank draws at least
  GpuCell enforced_w;               ///< limit in force; only a device knows it
};
/// Dense. Half precision accumulates in fp32, as training does.
struct GpuPeak {
  GpuCell fp32_tflops, tf32_tflops, bf16_tflops, fp16_tflops;
};
struct GpuLinks {
  GpuCell gb_per_s;  ///< NVLink or xGMI of one GPU, all links, both directions together
  GpuCell count;     ///< links of one GPU: at most so many rings
  GpuCell pcie_gen;  ///< x16
};

struct GpuRow {
  std::string_view name;                      ///< for people, options and cluster files: "A100 SXM4 40GB"
  std::array<std::string_view, 3> spellings;  ///< further names that drivers and people use; the rest is empty
  GpuMemory memory;
  GpuPower power;
  GpuPeak peak;
  GpuLinks links;
  std::string_view note;  ///< a trap; empty where there is none
};
[[nodiscard]] std::span<const GpuRow> gpu_table();

/// The row of a GPU by product name, as a driver, a catalog or a person writes it; of several that fit the one that
/// says most. Null where no row is exactly this product: another suffix ("RTX 4090 Laptop"), a slice of a GPU, or a
/// name that fits several ("A100").
[[nodiscard]] const GpuRow* find_gpu(std::string_view name);

/// Rows that a name which find_gpu does not know could mean: "A100" has four. Nearest spellings where no row has its
/// words. For error messages.
[[nodiscard]] std::vector<const GpuRow*> gpus_like(std::string_view name);

/// What the device itself says. Nothing: it did not.
struct LiveGpu {
  std::optional<double> memory_gb;
  std::optional<double> power_default_w, power_min_w, power_max_w, power_enforced_w, power_idle_w;
  std::optional<double> links, pcie_gen;
};
/// The row with every live figure in place of the table's. For a GPU that is in no table give GpuRow{.name = …}: what
/// it says is then all that is known.
[[nodiscard]] GpuRow with_live(GpuRow row, const LiveGpu& live);

/// The limit that counts: the one in force, else the one that the card comes with.
[[nodiscard]] const GpuCell& power_limit(const GpuRow& row);

}  // namespace gradwatt::catalog
