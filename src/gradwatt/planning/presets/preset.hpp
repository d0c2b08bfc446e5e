// What has been published of well-known jobs, as a start for a plan where nothing was measured yet. Every figure keeps
// its source and, where the source text was wrong or said less than it seemed, the correction. Published, not measured
// here: a profile of the own job replaces them. A new preset is one row in preset_table.cpp.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "gradwatt/core/result.hpp"

namespace gradwatt::planning {

/// Said with every figure of a preset.
inline constexpr std::string_view kPublished = "published, not measured here";

/// One published figure or range; an end that was not published is missing.
struct Published {
  std::optional<double> low, high;
  std::string_view source;
  std::string_view correction;  ///< what the figure does not mean; empty where it means what it says
};

/// A run of the published series. Hours of job scripts are budgets: the run takes at most that long.
struct PublishedRun {
  int gpus = 0;
  int global_batch = 0;
  double hours = 0;
  std::optional<double> energy_kwh;  ///< measured there, of whole nodes
};

struct Preset {
  std::string_view name;   ///< "resnet50-a100"
  std::string_view title;  ///< for people
  std::string_view gpu;    ///< name in catalog::gpu_table; empty where its exact product was not published
  int gpus_per_node = 0;
  std::optional<Published> energy_per_gpu_h_kwh;  ///< c: of a full node, over its GPUs
  std::optional<Published> gpu_power_kw;          ///< one GPU in training, alone
  std::optional<Published> node_base_kw;          ///< the node beside its GPUs
  std::optional<Published> samples, epochs;       ///< of one pass, and passes
  std::optional<Published> global_batch;          ///< both ends of what reaches the quality
  std::optional<Published> local_batch_most;      ///< that fits the GPU
  std::optional<Published> linear_up_to_gpus;     ///< speed stays in proportion
  std::span<const PublishedRun> fixed_global_batch, fixed_local_batch;
  std::string_view caution;  ///< of the preset as a whole
};
[[nodiscard]] std::span<const Preset> preset_table();

/// Fails with the names that exist, and the one that was most likely meant.
[[nodiscard]] core::Result<const Preset*> find_preset(std::string_view name);

struct PublishedEnergy {
  double gpu_hours = 0;
  double low_kwh = 0, high_kwh = 0;
};
/// Energy = c × GPU-hours (Huber et al. 2025, arXiv 2508.07706). On fewer GPUs than a node has, each bears more of the
/// node's base line: c grows by base · (1/n − 1/per node), and where one GPU was measured alone the range reaches to
/// it. Known error: c moves with samples and updates a GPU-hour; on the one public series over three scales a fixed c
/// errs by −13 % and +20 %. Nothing where no coefficient was published.
[[nodiscard]] std::optional<PublishedEnergy> published_energy(const Preset& preset, int gpus, double hours);

}  // namespace gradwatt::planning
