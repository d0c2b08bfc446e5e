// Which CPUs a host has, from /proc/cpuinfo and sysfs: energy counters need their packages, power models their name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::catalog {

struct HostCpu {
  struct Package {
    std::vector<int> cpus;  ///< logical CPUs, ascending
    int cores = 0;
  };
  std::string vendor;      ///< "GenuineIntel", "AuthenticAMD", "ARM", empty when not stated
  std::string model_name;  ///< as the kernel prints it; empty when it does not
  bool virtual_machine = false;
  std::map<int, Package> packages;  ///< by physical package id

  [[nodiscard]] int threads() const;
  [[nodiscard]] int cores() const;
};

/// A host whose /proc/cpuinfo cannot be read has no packages.
[[nodiscard]] HostCpu read_host_cpu(const core::FileTree& tree);

/// "0-3,8" -> 0 1 2 3 8; nothing when the text is something else.
[[nodiscard]] std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

}  // namespace gradwatt::catalog
