// Power of the host's memory from its modules, where nothing measures it. It rests on a count of modules: power hardly
// depends on how much a module holds, so figures a gibibyte are far off on large hosts. Where nothing tells the number
// of modules there is no model and the power stays unknown.
#pragma once

#include <string>

#include "gradwatt/catalog/host_cpu.hpp"
#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::model {

struct MemoryModel {
  double watts = 0;
  double low = 1, high = 1;
  int modules = 0;
  std::string rests_on;
};

/// Errors: not_supported with the reason why memory power cannot be modelled here.
[[nodiscard]] core::Result<MemoryModel> make_memory_model(const core::FileTree& tree, const catalog::HostCpu& cpu);

}  // namespace gradwatt::model
