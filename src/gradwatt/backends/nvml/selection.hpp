// Which GPUs are the job's: reads CUDA_VISIBLE_DEVICES of each command as CUDA does, and joins the commands. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/backends/nvml/inventory.hpp"
#include "gradwatt/telemetry/job_scope.hpp"

namespace gradwatt::nvml {

/// A GPU, or one MIG slice of it, by position in the inventory.
struct Choice {
  std::size_t gpu = 0;
  std::optional<std::size_t> slice;
  bool operator==(const Choice&) const = default;
};

struct Selection {
  /// Each GPU at most once, before its slices; slices never without their GPU (whose energy they share).
  std::vector<Choice> chosen;
  std::vector<std::string> notes;  ///< entries that name nothing: what CUDA does with them
  bool by_index = false;           ///< some entry was an index
};

/// True when the job surely uses no GPU: then the driver need not even be started.
[[nodiscard]] bool wants_no_gpu(const telemetry::JobScope::Snapshot& job);

/// Where device files of the job are known they decide, and the lists only exclude. An index counts the GPUs that can
/// be opened. As in CUDA, the first entry that names nothing ends its list. A GPU in MIG mode that is named as a whole
/// brings all its slices: which one CUDA will take is not known here.
[[nodiscard]] Selection select_gpus(const telemetry::JobScope::Snapshot& job, const std::vector<Gpu>& gpus);

}  // namespace gradwatt::nvml
