#include "gradwatt/backends/rapl/powercap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "gradwatt/core/text.hpp"

namespace gradwatt::rapl {
namespace {

constexpr std::string_view kRoot = "sys/class/powercap";
constexpr int kConstraints = 3;  // long term, short term, peak

struct PackageName {
  int package;
  std::optional<int> die;
};

/// "package-1", "package-0-die-1".
std::optional<PackageName> parse_package(std::string_view name) {
  const auto parts = core::split(name, '-');
  if (parts.size() != 2 && !(parts.size() == 4 && parts[2] == "die")) return std::nullopt;
  const auto package = core::parse_int(parts[1]);
  if (parts[0] != "package" || !package) return std::nullopt;
  if (parts.size() == 2) return PackageName{static_cast<int>(*package), std::nullopt};
  const auto die = core::parse_int(parts[3]);
  if (!die) return std::nullopt;
  return PackageName{static_cast<int>(*package), static_cast<int>(*die)};
}

std::optional<std::int64_t> positive(const core::Result<std::int64_t>& value) {
  return value && *value > 0 ? std::optional(*value) : std::nullopt;
}

PowercapZone make_zone(const core::FileTree& tree, PowercapZone::Kind kind, PackageName owner, std::string folder) {
  PowercapZone zone{kind, owner.package, owner.die, std::move(folder), {}, {}};
  zone.range_uj = positive(tree.read_int(zone.folder + "/max_energy_range_uj"));
  for (int i = 0; i < kConstraints; ++i) {
    const auto limit = positive(tree.read_int(fmt::format("{}/constraint_{}_max_power_uw", zone.folder, i)));
    if (limit) zone.max_power_uw = std::max(zone.max_power_uw.value_or(0), *limit);
  }
  return zone;
}

}  // namespace

Powercap find_powercap(const core::FileTree& tree) {
  Powercap found;
  std::map<std::string, PackageName> packages;  // by folder name: owners of the sub-zones, which sort after them
  for (const auto& entry : tree.list(kRoot)) {
    if (entry.starts_with("intel-rapl-mmio")) found.has_mmio_twin = true;
    if (!entry.starts_with("intel-rapl:")) continue;
    auto folder = fmt::format("{}/{}", kRoot, entry);
    const auto name = tree.read(folder + "/name");
    if (!name) {
      found.masked = true;
      continue;
    }
    if (*name == "psys") found.has_psys = true;
    if (const auto package = parse_package(*name)) {
      packages.emplace(entry, *package);
      found.zones.push_back(make_zone(tree, PowercapZone::Kind::package, *package, std::move(folder)));
    } else if (*name == "dram") {
      const auto owner = packages.find(entry.substr(0, entry.rfind(':')));
      if (owner != packages.end())
        found.zones.push_back(make_zone(tree, PowercapZone::Kind::dram, owner->second, std::move(folder)));
    }
  }
  if (!found.zones.empty()) found.masked = false;
  return found;
}

}  // namespace gradwatt::rapl
