#include "gradwatt/backends/proc/ports_and_disks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "gradwatt/core/text.hpp"

namespace gradwatt::proc {
namespace {

constexpr std::int64_t kSectorBytes = 512;
constexpr std::int64_t kRdmaWordBytes = 4;

/// All words as integers, or nothing.
std::optional<std::vector<std::int64_t>> integers(std::span<const std::string_view> words) {
  std::vector<std::int64_t> values;
  for (const auto word : words) {
    const auto value = core::parse_int(word);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

void copy_attribute(const core::FileTree& tree, const std::string& file, const std::string& name,
                    std::map<std::string, std::string>& attributes) {
  if (const auto text = tree.read(file); text && !text->empty()) attributes[name] = *text;
}

}  // namespace

std::map<std::string, Traffic, std::less<>> parse_net_dev(std::string_view text) {
  constexpr std::size_t kSent = 8, kColumns = 16;  // eight columns each way: bytes, packets, errors, dropped, …
  std::map<std::string, Traffic, std::less<>> interfaces;
  for (const auto line : core::split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const auto words = core::split_words(line.substr(colon + 1));
    const auto values = integers(words);
    if (!values || values->size() < kColumns) continue;
    const auto& v = *values;
    interfaces.emplace(core::trim(line.substr(0, colon)),
                       Traffic{v[0], v[kSent], v[2] + v[3] + v[kSent + 2] + v[kSent + 3]});
  }
  return interfaces;
}

std::vector<std::string> find_interfaces(const core::FileTree& tree) {
  std::vector<std::string> hardware, all;
  const auto text = tree.read("proc/net/dev");
  if (!text) return all;
  for (const auto& [name, traffic] : parse_net_dev(*text)) {
    if (name == "lo") continue;
    all.push_back(name);
    if (tree.exists(fmt::format("sys/class/net/{}/device", name))) hardware.push_back(name);
  }
  return hardware.empty() ? all : hardware;
}

std::map<std::string, std::string> interface_attributes(const core::FileTree& tree, const std::string& interface) {
  std::map<std::string, std::string> attributes;
  const auto folder = fmt::format("sys/class/net/{}", interface);
  copy_attribute(tree, folder + "/operstate", "state", attributes);
  // Virtual interfaces answer −1 or an error.
  if (const auto speed = tree.read_int(folder + "/speed"); speed && *speed > 0)
    attributes["link_rate_mbit_s"] = std::to_string(*speed);
  return attributes;
}

std::vector<RdmaPort> find_rdma_ports(const core::FileTree& tree) {
  std::vector<RdmaPort> ports;
  for (const auto& adapter : tree.list("sys/class/infiniband")) {
    for (const auto& entry : tree.list(fmt::format("sys/class/infiniband/{}/ports", adapter))) {
      const auto number = core::parse_int(entry);
      RdmaPort port{adapter,
                    static_cast<int>(number.value_or(0)),
                    fmt::format("sys/class/infiniband/{}/ports/{}", adapter, entry),
                    {}};
      if (!number || !read_rdma_port(tree, port)) continue;
      copy_attribute(tree, port.folder + "/rate", "link_rate", port.attributes);
      copy_attribute(tree, port.folder + "/link_layer", "link_layer", port.attributes);
      copy_attribute(tree, port.folder + "/state", "state", port.attributes);
      ports.push_back(std::move(port));
    }
  }
  return ports;
}

core::Result<Traffic> read_rdma_port(const core::FileTree& tree, const RdmaPort& port) {
  const auto counters = port.folder + "/counters/";
  const auto received = tree.read_int(counters + "port_rcv_data");
  if (!received) return core::fail(received.error());
  const auto sent = tree.read_int(counters + "port_xmit_data");
  if (!sent) return core::fail(sent.error());
  Traffic traffic{*received * kRdmaWordBytes, *sent * kRdmaWordBytes, 0};
  for (const auto* name : {"port_rcv_errors", "port_xmit_discards", "symbol_error"})
    traffic.errors += tree.read_int(counters + name).value_or(0);  // not every adapter has all of them
  return traffic;
}

std::map<std::string, DiskCounters, std::less<>> parse_diskstats(std::string_view text) {
  // major minor name | reads merged sectors ms | writes merged sectors ms | in flight, ms busy, …
  constexpr std::size_t kName = 2, kFirst = 3, kSectorsRead = 2, kSectorsWritten = 6, kBusy = 9;
  std::map<std::string, DiskCounters, std::less<>> disks;
  for (const auto line : core::split(text, '\n')) {
    const auto words = core::split_words(line);
    if (words.size() <= kFirst + kBusy) continue;
    const auto values = integers(std::span(words).subspan(kFirst));
    if (!values) continue;
    disks.emplace(words[kName], DiskCounters{(*values)[kSectorsRead] * kSectorBytes,
                                             (*values)[kSectorsWritten] * kSectorBytes, (*values)[kBusy]});
  }
  return disks;
}

std::vector<std::string> find_disks(const core::FileTree& tree) {
  constexpr std::array<std::string_view, 7> kNoDisks{"loop", "ram", "zram", "dm-", "md", "sr", "fd"};
  std::vector<std::string> disks;
  const auto text = tree.read("proc/diskstats");
  if (!text) return disks;
  for (const auto& [name, counters] : parse_diskstats(*text)) {
    const bool other = std::ranges::any_of(kNoDisks, [&](std::string_view prefix) { return name.starts_with(prefix); });
    // Partitions are in /proc/diskstats too, but not folders of their own in /sys/block.
    if (!other && tree.exists(fmt::format("sys/block/{}/device", name))) disks.push_back(name);
  }
  return disks;
}

std::map<std::string, std::string> disk_attributes(const core::FileTree& tree, const std::string& disk) {
  std::map<std::string, std::string> attributes;
  const auto folder = fmt::format("sys/block/{}", disk);
  copy_attribute(tree, folder + "/device/model", "model", attributes);
  copy_attribute(tree, folder + "/queue/rotational", "rotational", attributes);
  if (const auto sectors = tree.read_int(folder + "/size"))
    attributes["size_bytes"] = std::to_string(*sectors * kSectorBytes);
  return attributes;
}

}  // namespace gradwatt::proc
