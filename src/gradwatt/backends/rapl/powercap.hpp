// The RAPL zones of the kernel's powercap tree: which of them count, and which would count something twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::rapl {

struct PowercapZone {
  enum class Kind { package, dram };
  Kind kind{};
  int package = 0;
  std::optional<int> die;                ///< "package-0-die-1": dies of one package are domains of their own and add
  std::string folder;                    ///< relative to the tree: "sys/class/powercap/intel-rapl:0"
  std::optional<std::int64_t> range_uj;  ///< max_energy_range_uj
  std::optional<std::int64_t> max_power_uw;  ///< largest of the constraints; the zone cannot draw much more for long
};

struct Powercap {
  std::vector<PowercapZone> zones;  ///< package and dram only: core and uncore are inside package, psys around it
  bool has_mmio_twin = false;       ///< intel-rapl-mmio repeats the same package
  bool has_psys = false;
  bool masked = false;  ///< zones are listed and cannot be opened: a container hides the tree
};

[[nodiscard]] Powercap find_powercap(const core::FileTree& tree);

}  // namespace gradwatt::rapl
