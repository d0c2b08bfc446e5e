#include "gradwatt/planning/presets/preset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "gradwatt/core/text.hpp"

namespace gradwatt::planning {

core::Result<const Preset*> find_preset(std::string_view name) {
  const auto presets = preset_table();
  const auto found = std::ranges::find(presets, name, &Preset::name);
  if (found != presets.end()) return &*found;
  std::vector<std::string_view> names;
  for (const auto& preset : presets) names.push_back(preset.name);
  const auto meant = core::nearest(name, names);
  return core::fail(core::Errc::wrong_use,
                    fmt::format("no preset \"{}\"{}; there are {}", name,
                                meant ? fmt::format(" (did you mean {}?)", *meant) : "", fmt::join(names, ", ")));
}

std::optional<PublishedEnergy> published_energy(const Preset& preset, int gpus, double hours) {
  const auto& c = preset.energy_per_gpu_h_kwh;
  if (!c || !c->low || !c->high || gpus < 1 || preset.gpus_per_node < 1) return std::nullopt;
  double low = *c->low, high = *c->high;
  if (gpus < preset.gpus_per_node) {
    // The coefficient is of full nodes; without the base line nothing is known of others.
    if (!preset.node_base_kw || !preset.node_base_kw->low) return std::nullopt;
    const double base = *preset.node_base_kw->low;
    const double more = base * (1.0 / gpus - 1.0 / preset.gpus_per_node);
    low += more;
    high += more;
    if (preset.gpu_power_kw && preset.gpu_power_kw->high)
      high = std::max(high, *preset.gpu_power_kw->high + base / gpus);
  }
  const double gpu_hours = gpus * hours;
  return PublishedEnergy{gpu_hours, low * gpu_hours, high * gpu_hours};
}

}  // namespace gradwatt::planning
