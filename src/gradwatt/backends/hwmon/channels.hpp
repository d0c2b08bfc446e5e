// Which power and energy files of /sys/class/hwmon measure what, and which of them must not be counted.
//
// Grace superchips (ACPI power_meter, label in oem_info): Module contains Grace, Grace contains CPU, SysIO and memory.
// Module goes to node.power_module, Grace to cpu.power; CPU and SysIO are inside Grace and never counted beside it.
// amd_energy: the socket counters; cores are inside. Any other channel counts only when its label says that it
// measures the node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gradwatt/core/clock.hpp"
#include "gradwatt/core/file_tree.hpp"
#include "gradwatt/record/metric.hpp"

namespace gradwatt::hwmon {

struct Channel {
  record::MetricId metric{};  ///< cpu.power, cpu.energy, node.power or node.power_module
  std::string file;           ///< relative; holds µW or µJ
  std::string uuid;           ///< of the device it belongs to
  std::string name;           ///< for people
  int socket = -1;            ///< −1: not of one socket
  std::string scope;
  std::string note;
  core::Duration update_period{0};  ///< the meter averages over it; reading more often brings nothing and may be slow
};

struct IgnoredChannel {
  std::string what;  ///< "hwmon3 (nvme) power1_input"
  std::string reason;
};

struct Channels {
  std::vector<Channel> used;
  std::vector<IgnoredChannel> ignored;
};

[[nodiscard]] Channels find_channels(const core::FileTree& tree);

/// True where the label says that the whole node is measured: "node", "system", "chassis", "server" or "platform".
[[nodiscard]] bool names_the_node(std::string_view label);

}  // namespace gradwatt::hwmon
