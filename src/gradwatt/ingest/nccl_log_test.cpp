#include "gradwatt/ingest/nccl_log.hpp"

#include <filesystem>
#include <fstream>

#include "gradwatt/ingest/fact_queries.hpp"

namespace gradwatt::ingest {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

const std::string kTwoNodes =
    "node1:10:10 [0] NCCL INFO Bootstrap : Using [0]ib0:10.0.0.1<0>\n"
    "NCCL version 2.20.5+cuda12.4\n"
    "node1:10:20 [0] NCCL INFO NCCL_IB_HCA set by environment to mlx5_0.\n"
    "node1:10:20 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB ib0:10.0.0.1<0>\n"
    "node1:10:20 [0] NCCL INFO Using network IB\n"
    "node1:10:20 [0] NCCL INFO DMA-BUF is available on GPU device 0\n"
    "node1:10:20 [0] NCCL INFO comm 0x55 rank 0 nranks 4 cudaDev 0 nvmlDev 0 busId 7000 commId 0x9 - Init START\n"
    "node1:10:20 [0] NCCL INFO comm 0x55 rank 0 nRanks 4 nNodes 2 localRanks 2 localRank 0 MNNVL 0\n"
    "node1:10:20 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read\n"
    "node2:11:21 [0] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/1/GDRDMA\n"
    "node2:11:21 [0] NCCL INFO 16 coll channels, 0 collnet channels, 0 nvls channels, 16 p2p channels\n";

TEST(NcclLog, TellsPathsInterfacesAndSettings) {
  const auto run = read_well(kTwoNodes);
  EXPECT_THAT(text(run, "comm.nccl_version"), Optional(std::string("2.20.5+cuda12.4")));
  EXPECT_THAT(text(run, "comm.transport"), Optional(std::string("net-ib")));
  EXPECT_THAT(text(run, "comm.transport", "within hosts"), Optional(std::string("p2p")));
  EXPECT_THAT(text(run, "comm.transport", "between hosts"), Optional(std::string("net-ib")));
  EXPECT_THAT(text(run, "comm.interface"), Optional(std::string("mlx5_1")));
  EXPECT_THAT(text(run, "comm.interface", "bootstrap"), Optional(std::string("ib0")));
  EXPECT_THAT(text(run, "env.value", "NCCL_IB_HCA"), Optional(std::string("mlx5_0")));
  EXPECT_EQ(number(run, "comm.gpudirect_rdma"), 1);
  EXPECT_EQ(number(run, "comm.rdma_ports_active", "node1"), 2);
  EXPECT_EQ(number(run, "host.peermem", "node1"), 1);
  EXPECT_EQ(number(run, "job.world_size"), 4);
  EXPECT_EQ(number(run, "job.nodes"), 2);
  EXPECT_EQ(number(run, "comm.channels"), 16);
  EXPECT_EQ(find(run, "job.nodes", "job")->source, "file.log:8");
  EXPECT_EQ(run.rows, 11U);
}

TEST(NcclLog, ReadsOldAndNewWaysOfWritingAChannel) {
  EXPECT_THAT(text(read_well("h:1:2 [1] NCCL INFO Channel 01 : 3[8a000] -> 0[15000] via P2P/IPC\n"), "comm.transport"),
              Optional(std::string("p2p")));
  EXPECT_THAT(
      text(read_well("h:1:2 [1] NCCL INFO Channel 02/0 : 1[1] -> 2[2] via SHM/direct/direct\n"), "comm.transport"),
      Optional(std::string("shm")));
  EXPECT_THAT(text(read_well("h:1:2 [1] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/AWS Libfabric/1\n"),
                   "comm.transport"),
              Optional(std::string("net-ofi")));
  EXPECT_THAT(text(read_well("[2025-06-12 10:11:12] h:1:2 [1] NCCL INFO Channel 0 : 8[0] -> 0[0] via NET/FasTrak/0\n"),
                   "comm.transport"),
              Optional(std::string("net-fastrak")));
}

TEST(NcclLog, TheSlowestPathStandsForTheJob) {
  const auto run = read_well(
      "h:1:2 [1] NCCL INFO NET/Socket : Using [0]docker0:172.17.0.1<0> [1]eth1:10.0.0.2<0>\n"
      "h:1:2 [1] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n"
      "h:1:2 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[2] via SHM\n"
      "h:1:2 [1] NCCL INFO Channel 00/0 : 2[2] -> 3[3] [send] via NET/Socket/0\n");
  EXPECT_THAT(text(run, "comm.transport"), Optional(std::string("net-socket")));
  EXPECT_THAT(text(run, "comm.transport", "within hosts"), Optional(std::string("shm")));
  EXPECT_THAT(text(run, "comm.interface"), Optional(std::string("docker0")));
  EXPECT_EQ(number(run, "comm.gpudirect_rdma"), std::nullopt) << "sockets say nothing of the card";
}

TEST(NcclLog, NoDeviceAndNoDirectPathAreFacts) {
  const auto run = read_well(
      "h:1:2 [1] NCCL INFO NET/IB : No device found.\n"
      "h:1:2 [1] misc/x.cc:9 NCCL WARN P2P is disabled between NVLINK connected GPUs 1 and 0. This should not be.\n");
  EXPECT_EQ(number(run, "comm.rdma_ports_active", "h"), 0);
  EXPECT_THAT(text(run, "comm.warning").value_or(""), HasSubstr("P2P is disabled"));
  EXPECT_EQ(number(run, "comm.p2p_possible", "GPU 1 - GPU 0"), 0);
}

TEST(NcclLog, AWatchdogThatGaveUpIsAHang) {
  const auto run = read_well(
      "[rank0]:[E ProcessGroupNCCL.cpp:563] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=3, "
      "OpType=BROADCAST, NumelIn=256, NumelOut=256, Timeout(ms)=120000) ran for 120083 milliseconds before timing "
      "out.\n");
  EXPECT_EQ(number(run, "comm.hangs"), 1);
  EXPECT_EQ(number(run, "job.no_progress_s"), 120.083);
  EXPECT_THAT(text(run, "comm.warning").value_or(""), HasSubstr("BROADCAST"));
}

TEST(NcclLog, LinesThatProcessesWroteIntoEachOtherGiveNothingWrong) {
  const auto run = read_well(
      "h:1:2 [1] NCCL INFO NCCL_CROSS_NIC set by environment toh:3:4 [2] NCCL INFO cudaDriverVersion 12020\n"
      "h:1:2 [1] NCCL INFO NCCL_CROSS_h:3:4 [2] NCCL INFO Using network IB\n"
      "h:1:2 [1] NCCL INFO comm 0x1 rank 0 nranks 8 cudaDev 0\n");
  EXPECT_EQ(find(run, "env.value", "NCCL_CROSS_NIC"), nullptr);
  EXPECT_EQ(number(run, "job.world_size"), 8);
}

TEST(NcclLog, UnlikeValuesOfOneSettingAreSaid) {
  const auto run = read_well(
      "a:1:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n"
      "b:1:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 0.\n"
      "c:1:2 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\n");
  EXPECT_THAT(text(run, "env.value", "NCCL_P2P_DISABLE"), Optional(std::string("1")));
  EXPECT_THAT(said(run), HasSubstr("NCCL_P2P_DISABLE has 2 different values"));
}

TEST(NcclLog, LogsOfSeveralRanksMeetInWhatHoldsForTheJob) {
  const auto folder = std::filesystem::path(::testing::TempDir());
  const std::vector files{folder / "gradwatt-nccl-0", folder / "gradwatt-nccl-1"};
  std::ofstream(files[0])
      << "NCCL version 2.20.5+cuda12.4\nh:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC\n"
         "h:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 2 cudaDev 0\n";
  std::ofstream(files[1])
      << "NCCL version 2.20.5+cuda12.4\nh:1:3 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/0\n"
         "h:1:3 [1] NCCL INFO comm 0x2 rank 1 nranks 16 cudaDev 1\n";
  const auto imported = import_files(files);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(text(*imported, "comm.transport"), Optional(std::string("net-ib")));
  EXPECT_EQ(number(*imported, "job.world_size"), 16);
  EXPECT_EQ(std::ranges::count(imported->run.facts, "comm.nccl_version", &record::Fact::name), 1);
  EXPECT_EQ(std::ranges::count(imported->run.facts, "job.world_size", &record::Fact::name), 1);
  for (const auto& file : files) std::filesystem::remove(file);
}

TEST(NcclLog, SaysHowManyLinesOfTheFileWereRead) {
  EXPECT_THAT(said(read_well("hello\n" + kTwoNodes)),
              HasSubstr("read: 11 lines of NCCL log; 1 other lines are not read, the first is line 1: 'hello'"));
}

}  // namespace
}  // namespace gradwatt::ingest
