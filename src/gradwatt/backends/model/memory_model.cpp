#include "gradwatt/backends/model/memory_model.hpp"

#include <fmt/format.h>

#include <optional>

#include "gradwatt/catalog/cpu_table.hpp"

namespace gradwatt::model {
namespace {

struct Modules {
  int count = 0;
  bool counted = false;  ///< by the memory controller's driver; else one a channel is assumed
  std::string how;
};

/// Modules that the memory controllers report: /sys/devices/system/edac/mc/mcN/dimmM (older: rankM) with a size.
int count_edac_modules(const core::FileTree& tree) {
  constexpr std::string_view kRoot = "sys/devices/system/edac/mc";
  int modules = 0;
  for (const auto& controller : tree.list(kRoot)) {
    if (!controller.starts_with("mc")) continue;
    for (const auto& entry : tree.list(fmt::format("{}/{}", kRoot, controller))) {
      if (!entry.starts_with("dimm")) continue;
      const auto size = tree.read_int(fmt::format("{}/{}/{}/size", kRoot, controller, entry));
      if (size && *size > 0) ++modules;
    }
  }
  return modules;
}

std::optional<Modules> find_modules(const core::FileTree& tree, const catalog::HostCpu& cpu) {
  if (const int counted = count_edac_modules(tree); counted > 0)
    return Modules{counted, true, fmt::format("{} modules that the memory controllers report", counted)};
  const auto* row = catalog::find_cpu(cpu.model_name);
  if (row == nullptr || cpu.packages.empty()) return std::nullopt;
  const int channels = row->memory_channels * static_cast<int>(cpu.packages.size());
  return Modules{channels, false, fmt::format("one module in each of {} channels, an assumption", channels)};
}

// One or two modules a channel is what servers have; fewer than all channels filled is rare in training hosts.
constexpr double kAssumedLow = 0.5;
constexpr double kAssumedHigh = 2.0;

}  // namespace

core::Result<MemoryModel> make_memory_model(const core::FileTree& tree, const catalog::HostCpu& cpu) {
  if (cpu.virtual_machine)
    return core::fail(core::Errc::not_supported,
                      "memory power is not modelled in a virtual machine: what modules serve it is not visible");
  const auto modules = find_modules(tree, cpu);
  if (!modules)
    return core::fail(core::Errc::not_supported,
                      "memory power is not modelled: neither the memory controllers nor the CPU table tell how many "
                      "modules there are");
  const catalog::MemoryModulePower module;
  MemoryModel model;
  model.modules = modules->count;
  model.watts = module.watts * modules->count;
  model.low = module.low * (modules->counted ? 1 : kAssumedLow);
  model.high = module.high * (modules->counted ? 1 : kAssumedHigh);
  model.rests_on = fmt::format("{}, {:.0f} W each ({})", modules->how, module.watts, module.source);
  return model;
}

}  // namespace gradwatt::model
