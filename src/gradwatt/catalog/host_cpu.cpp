#include "gradwatt/catalog/host_cpu.hpp"

#include <fmt/format.h>

#include <set>

#include "gradwatt/core/text.hpp"

namespace gradwatt::catalog {
namespace {

/// One block of /proc/cpuinfo.
struct Block {
  std::optional<std::int64_t> processor, package, core;
};

int package_of(const core::FileTree& tree, const Block& block) {
  if (block.package) return static_cast<int>(*block.package);
  // ARM prints no package; a negative id means that firmware does not say.
  const auto id =
      tree.read_int(fmt::format("sys/devices/system/cpu/cpu{}/topology/physical_package_id", *block.processor));
  return id && *id >= 0 ? static_cast<int>(*id) : 0;
}

void take_line(std::string_view key, std::string_view value, HostCpu& cpu, std::string& arm_part) {
  if (key == "vendor_id") cpu.vendor = value;
  if (key == "model name") cpu.model_name = value;
  if (key == "CPU implementer") cpu.vendor = "ARM", arm_part = value;
  if (key == "CPU part") arm_part = fmt::format("{} {}", arm_part.substr(0, arm_part.find(' ')), value);
  if (key == "flags" && value.find(" hypervisor") != std::string_view::npos) cpu.virtual_machine = true;
}

}  // namespace

int HostCpu::threads() const {
  std::size_t n = 0;
  for (const auto& [id, package] : packages) n += package.cpus.size();
  return static_cast<int>(n);
}

int HostCpu::cores() const {
  int n = 0;
  for (const auto& [id, package] : packages) n += package.cores;
  return n;
}

HostCpu read_host_cpu(const core::FileTree& tree) {
  HostCpu cpu;
  const auto text = tree.read("proc/cpuinfo");
  if (!text) return cpu;
  std::string arm_part;
  std::map<int, std::set<std::int64_t>> cores;
  Block block;
  const auto finish = [&] {
    if (!block.processor) return;
    const int package = package_of(tree, block);
    cpu.packages[package].cpus.push_back(static_cast<int>(*block.processor));
    cores[package].insert(block.core.value_or(*block.processor));
    block = {};
  };
  for (const auto line : core::split(*text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto key = core::trim(line.substr(0, colon));
    const auto value = core::trim(line.substr(colon + 1));
    if (key == "processor") {
      finish();
      block.processor = core::parse_int(value);
    }
    if (key == "physical id") block.package = core::parse_int(value);
    if (key == "core id") block.core = core::parse_int(value);
    take_line(key, value, cpu, arm_part);
  }
  finish();
  for (auto& [id, package] : cpu.packages) package.cores = static_cast<int>(cores[id].size());
  if (cpu.model_name.empty() && !arm_part.empty()) cpu.model_name = "ARM " + arm_part;
  return cpu;
}

std::optional<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const auto piece : core::split(core::trim(text), ',')) {
    const auto dash = piece.find('-');
    const auto first = core::parse_int(piece.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : core::parse_int(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > 1'000'000) return std::nullopt;
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

}  // namespace gradwatt::catalog
