// What the kernel's `power` PMU offers: which energy events, in which scale, on which CPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::rapl {

struct PerfEvent {
  std::uint64_t config = 0;
  double joules_per_count = 0;
};

/// A CPU that reads one package (or one die of it).
struct PerfSite {
  int cpu = 0;
  int package = 0;
  std::optional<int> die;  ///< only where the package has several
};

struct PerfPower {
  std::uint32_t type = 0;
  std::optional<PerfEvent> package;  ///< energy-pkg
  std::optional<PerfEvent> dram;     ///< energy-ram; nothing on AMD and most desktops
  bool has_psys = false;             ///< contains the packages, therefore never counted
  std::vector<PerfSite> sites;
};

/// Errors: not_found when this kernel has no such PMU, unusable_input when its files make no sense.
[[nodiscard]] core::Result<PerfPower> find_perf_power(const core::FileTree& tree);

}  // namespace gradwatt::rapl
