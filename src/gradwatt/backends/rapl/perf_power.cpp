#include "gradwatt/backends/rapl/perf_power.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include "gradwatt/catalog/host_cpu.hpp"
#include "gradwatt/core/text.hpp"

namespace gradwatt::rapl {
namespace {

constexpr std::string_view kPmu = "sys/bus/event_source/devices/power";

/// "event=0x02" -> 2.
std::optional<std::uint64_t> parse_event(std::string_view text) {
  constexpr std::string_view kPrefix = "event=0x";
  text = core::trim(text);
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<PerfEvent> find_event(const core::FileTree& tree, std::string_view name) {
  const auto base = fmt::format("{}/events/{}", kPmu, name);
  const auto event = tree.read(base);
  const auto scale = tree.read(base + ".scale");
  const auto unit = tree.read(base + ".unit");
  if (!event || !scale || !unit || *unit != "Joules") return std::nullopt;
  const auto config = parse_event(*event);
  const auto factor = core::parse_number(*scale);
  if (!config || !factor || *factor <= 0) return std::nullopt;
  return PerfEvent{*config, *factor};
}

std::optional<int> topology(const core::FileTree& tree, int cpu, std::string_view what) {
  const auto id = tree.read_int(fmt::format("sys/devices/system/cpu/cpu{}/topology/{}", cpu, what));
  return id && *id >= 0 ? std::optional(static_cast<int>(*id)) : std::nullopt;
}

/// Several CPUs of the mask in one package are its dies; two in one die would count it twice.
std::vector<PerfSite> find_sites(const core::FileTree& tree, const std::vector<int>& cpus) {
  std::map<int, int> sites_of_package;
  std::set<std::pair<int, int>> seen;
  std::vector<PerfSite> sites;
  for (const int cpu : cpus) {
    const int package = topology(tree, cpu, "physical_package_id").value_or(0);
    const int die = topology(tree, cpu, "die_id").value_or(0);
    if (!seen.insert({package, die}).second) continue;
    ++sites_of_package[package];
    sites.push_back({cpu, package, die});
  }
  for (auto& site : sites)
    if (sites_of_package[site.package] == 1) site.die.reset();
  return sites;
}

}  // namespace

core::Result<PerfPower> find_perf_power(const core::FileTree& tree) {
  const auto type = tree.read_int(fmt::format("{}/type", kPmu));
  if (!type) return core::fail(type.error());
  const auto mask = tree.read(fmt::format("{}/cpumask", kPmu));
  if (!mask) return core::fail(mask.error());
  const auto cpus = catalog::parse_cpu_list(*mask);
  if (!cpus || cpus->empty() || *type < 0)
    return core::fail(core::Errc::unusable_input,
                      fmt::format("{}/cpumask holds '{}', not a list of CPUs", tree.path(kPmu).string(), *mask));
  PerfPower power;
  power.type = static_cast<std::uint32_t>(*type);
  power.package = find_event(tree, "energy-pkg");
  power.dram = find_event(tree, "energy-ram");
  power.has_psys = tree.exists(fmt::format("{}/events/energy-psys", kPmu));
  power.sites = find_sites(tree, *cpus);
  return power;
}

}  // namespace gradwatt::rapl
