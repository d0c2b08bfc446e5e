#include "gradwatt/backends/proc/ports_and_disks.hpp"

#include <gtest/gtest.h>

#include "tests/doubles/made_tree.hpp"

namespace gradwatt::proc {
namespace {

constexpr const char* kNetDev =
    "Inter-|   Receive  |  Transmit\n face |bytes packets\n"
    "    lo: 3267 29 0 0 0 0 0 0 3267 29 0 0 0 0 0 0\n"
    "  eth0: 1000 10 1 2 0 0 0 0 2000 20 3 4 0 0 0 0\n"
    "docker0: 50 1 0 0 0 0 0 0 60 1 0 0 0 0 0 0\n"
    "broken: 1 2 3\n";

TEST(NetDev, ReadsBytesAndAddsErrorsAndDropsOfBothDirections) {
  const auto interfaces = parse_net_dev(kNetDev);
  EXPECT_EQ(interfaces.size(), 3u);
  const auto& eth0 = interfaces.find("eth0")->second;
  EXPECT_EQ(eth0.received, 1000);
  EXPECT_EQ(eth0.sent, 2000);
  EXPECT_EQ(eth0.errors, 10);
}

TEST(Interfaces, OnlyHardwareCountsWhereThereIsAny) {
  doubles::MadeTree made;
  made.file("proc/net/dev", kNetDev);
  EXPECT_EQ(find_interfaces(made.tree()), (std::vector<std::string>{"docker0", "eth0"}));
  made.folder("sys/class/net/eth0/device").file("sys/class/net/eth0/speed", "100000").folder("sys/class/net/docker0");
  EXPECT_EQ(find_interfaces(made.tree()), std::vector<std::string>{"eth0"});
  EXPECT_EQ(interface_attributes(made.tree(), "eth0").at("link_rate_mbit_s"), "100000");
}

TEST(Interfaces, AnUnknownSpeedIsNoAttribute) {
  doubles::MadeTree made;
  made.file("sys/class/net/eth0/speed", "-1");
  EXPECT_TRUE(interface_attributes(made.tree(), "eth0").empty());
}

TEST(RdmaPorts, CountWordsOfFourBytes) {
  doubles::MadeTree made;
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
  made.file(port + "/counters/port_rcv_data", "1000")
      .file(port + "/counters/port_xmit_data", "250")
      .file(port + "/counters/port_rcv_errors", "2")
      .file(port + "/rate", "200 Gb/sec (4X HDR)")
      .file(port + "/link_layer", "InfiniBand")
      .folder("sys/class/infiniband/mlx5_1/ports/1");  // a port without counters
  const auto ports = find_rdma_ports(made.tree());
  ASSERT_EQ(ports.size(), 1u);
  EXPECT_EQ(ports[0].attributes.at("link_rate"), "200 Gb/sec (4X HDR)");
  const auto traffic = read_rdma_port(made.tree(), ports[0]);
  ASSERT_TRUE(traffic);
  EXPECT_EQ(traffic->received, 4000);
  EXPECT_EQ(traffic->sent, 1000);
  EXPECT_EQ(traffic->errors, 2);
  made.remove(port + "/counters/port_xmit_data");
  EXPECT_FALSE(read_rdma_port(made.tree(), ports[0]));
}

constexpr const char* kDisks =
    "   7  0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
    " 259  0 nvme0n1 32384 9295 100 9662 25388 11882 200 9741 0 7468 19935 0 0 0 0 0 0\n"
    " 259  1 nvme0n1p1 1 1 1 1 1 1 1 1 0 1 1\n"
    " 253  0 dm-0 1 1 90 1 1 1 1 1 0 1 1\n"
    "   9  0 md0 1 1 90 1 1 1 1 1 0 1 1\n"
    "   8  0 sda 1 1\n";

TEST(Disks, AreWholeAndReal) {
  doubles::MadeTree made;
  made.file("proc/diskstats", kDisks)
      .file("sys/block/nvme0n1/device/model", "SSD 9000 ")
      .file("sys/block/nvme0n1/size", "1000")
      .folder("sys/block/loop0")
      .folder("sys/block/dm-0")
      .folder("sys/block/md0/device");
  EXPECT_EQ(find_disks(made.tree()), std::vector<std::string>{"nvme0n1"});
  EXPECT_EQ(disk_attributes(made.tree(), "nvme0n1").at("size_bytes"), "512000");
  EXPECT_EQ(disk_attributes(made.tree(), "nvme0n1").at("model"), "SSD 9000");
}

TEST(Disks, SectorsAreOf512Bytes) {
  const auto disks = parse_diskstats(kDisks);
  const auto& nvme = disks.find("nvme0n1")->second;
  EXPECT_EQ(nvme.read_bytes, 51200);
  EXPECT_EQ(nvme.written_bytes, 102400);
  EXPECT_EQ(nvme.busy_ms, 7468);
  EXPECT_FALSE(disks.contains("sda")) << "a cut line";
}

}  // namespace
}  // namespace gradwatt::proc
