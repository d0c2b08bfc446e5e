// Network ports and disks: which of them count, and their byte counters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gradwatt/core/file_tree.hpp"

namespace gradwatt::proc {

struct Traffic {
  std::int64_t received = 0, sent = 0, errors = 0;  ///< bytes, bytes, packets dropped or in error
};
/// /proc/net/dev by interface.
[[nodiscard]] std::map<std::string, Traffic, std::less<>> parse_net_dev(std::string_view text);

/// Interfaces that move data out of the host: those with hardware behind them; where there is none (a container), all
/// but loopback. Bridges, bonds and tunnels above a counted interface would count its bytes again.
[[nodiscard]] std::vector<std::string> find_interfaces(const core::FileTree& tree);
[[nodiscard]] std::map<std::string, std::string> interface_attributes(const core::FileTree& tree,
                                                                      const std::string& interface);

/// A port of an InfiniBand or RoCE adapter. Its counters are apart from those of /proc/net/dev: RDMA passes by it.
struct RdmaPort {
  std::string adapter;
  int port = 0;
  std::string folder;  ///< "sys/class/infiniband/mlx5_0/ports/1"
  std::map<std::string, std::string> attributes;
};
[[nodiscard]] std::vector<RdmaPort> find_rdma_ports(const core::FileTree& tree);
/// port_xmit_data and port_rcv_data count words of four bytes.
[[nodiscard]] core::Result<Traffic> read_rdma_port(const core::FileTree& tree, const RdmaPort& port);

struct DiskCounters {
  std::int64_t read_bytes = 0, written_bytes = 0, busy_ms = 0;
};
/// /proc/diskstats by device; sectors there are always 512 bytes.
[[nodiscard]] std::map<std::string, DiskCounters, std::less<>> parse_diskstats(std::string_view text);

/// Whole disks with hardware behind them: no partitions, loop devices, RAM disks, RAID or mapped volumes.
[[nodiscard]] std::vector<std::string> find_disks(const core::FileTree& tree);
[[nodiscard]] std::map<std::string, std::string> disk_attributes(const core::FileTree& tree, const std::string& disk);

}  // namespace gradwatt::proc
