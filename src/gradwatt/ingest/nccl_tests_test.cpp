#include "gradwatt/ingest/nccl_tests.hpp"

#include "gradwatt/ingest/fact_queries.hpp"

namespace gradwatt::ingest {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Optional;
constexpr std::string_view kBandwidth = "comm.bus_bandwidth_bytes_per_s";

std::string ranks(int n) {
  std::string text =
      "# nThread 1 nGpus 1 minBytes 1024 maxBytes 2048 step: 2(factor) warmup iters: 5 iters: 20\n#\n# Using devices\n";
  for (int i = 0; i < n; ++i)
    text += "#  Rank  " + std::to_string(i) + " Group  0 Pid 77 on node" + std::to_string(i / 8) +
            " device  0 [0x1a] NVIDIA H100 80GB HBM3\n";
  return text +
         "#\n#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   "
         "busbw #wrong\n";
}
const std::string kEnd = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 345.5 \n#\n";
std::string row(const std::string& size, const std::string& algbw, const std::string& busbw) {
  return "  " + size + "   262144    float     sum      -1    148.3  " + algbw + "  " + busbw +
         "      0    147.5  N/A  N/A    N/A\n";
}

TEST(NcclTests, GivesBandwidthBySizeAndOnAverage) {
  const auto run = read_well("$ ./build/all_reduce_perf -b 1G\n" + ranks(16) + row("1073741824", "200.00", "375.00") +
                             row("2147483648", "210.00", "393.75") + kEnd);
  EXPECT_EQ(number(run, kBandwidth, "all_reduce 1 GiB, 16 ranks"), 375e9);
  EXPECT_EQ(number(run, kBandwidth, "all_reduce 2 GiB, 16 ranks"), 393.75e9);
  EXPECT_EQ(number(run, kBandwidth, "all_reduce average, 16 ranks"), 345.5e9);
  EXPECT_EQ(number(run, "job.world_size"), 16);
  EXPECT_EQ(number(run, "job.nodes"), 2);
  EXPECT_THAT(text(run, "gpu.name"), Optional(std::string("NVIDIA H100 80GB HBM3")));
  EXPECT_THAT(text(run, "job.kind"), Optional(std::string("collective-test")));
}

TEST(NcclTests, FindsTheCollectiveByItsFactorWhereNothingNamesIt) {
  const auto run = read_well(ranks(8) + row("1048576", "100.00", "175.00") + kEnd);
  EXPECT_EQ(number(run, kBandwidth, "all_reduce 1 MiB, 8 ranks"), 175e9);
  const auto scatter = read_well(ranks(8) + row("1048576", "100.00", "87.50") + kEnd);
  EXPECT_EQ(number(scatter, kBandwidth, "reduce_scatter 1 MiB, 8 ranks"), 87.5e9);
  const auto pair = read_well(ranks(2) + row("1048576", "100.00", "100.00") + kEnd);
  EXPECT_EQ(number(pair, kBandwidth, "collective 1 MiB, 2 ranks"), 100e9);
}

TEST(NcclTests, SeveralTestsOfOneFileStayApart) {
  const auto run = read_well(
      "# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n"
      "# Collective test starting: alltoall_perf\n" +
      ranks(4) + row("1048576", "10.00", "7.50") + kEnd + "# Collective test starting: sendrecv_perf\n" + ranks(4) +
      row("1048576", "9.00", "9.00") + kEnd);
  EXPECT_EQ(number(run, kBandwidth, "alltoall 1 MiB, 4 ranks"), 7.5e9);
  EXPECT_EQ(number(run, kBandwidth, "sendrecv 1 MiB, 4 ranks"), 9e9);
  EXPECT_THAT(text(run, "comm.nccl_version"), Optional(std::string("2.28.7")));
}

TEST(NcclTests, WrongValuesAndFailuresAreWarnings) {
  const auto wrong = read_well(ranks(8) + row("1048576", "100.00", "175.00") +
                               "# Out of bounds values : 12 FAILED\n# Avg bus bandwidth    : 175\n");
  EXPECT_THAT(text(wrong, "comm.warning"), Optional(std::string("all_reduce: 12 values out of bounds")));
  const auto failed = read_well(
      "# Collective test starting: all_reduce_perf\n" + ranks(8) +
      "n1: Test NCCL failure common.cu:1279 'remote process exited'\n .. n1 pid 7: Test failure common.cu:1100\n");
  EXPECT_THAT(text(failed, "comm.warning").value_or(""), HasSubstr("all_reduce: Test NCCL failure common.cu:1279"));
  EXPECT_EQ(number(failed, "job.world_size"), 8);
}

TEST(NcclTests, ATestThatWasCutOffIsNotComplete) {
  const auto run = read_well(ranks(8) + row("1048576", "100.00", "175.00"));
  EXPECT_EQ(number(run, kBandwidth, "all_reduce 1 MiB, 8 ranks"), 175e9);
  EXPECT_EQ(run.run.text(record::meta::kComplete), "0");
  EXPECT_THAT(said(run), HasSubstr("the all_reduce test that begins here has no end: 1 sizes were measured"));
}

TEST(NcclTests, RowsOfOtherTablesAreNotTaken) {
  EXPECT_THAT(refused("1048576 262144 float sum -1 148.3 100 175 0 147 N/A N/A N/A\n"), HasSubstr("line 1"));
}

TEST(NcclTests, SizesAreWrittenForPeople) {
  EXPECT_EQ(size_text(22020096), "21 MiB");
  EXPECT_EQ(size_text(1536), "1536 bytes");
  EXPECT_EQ(size_text(0), "0 bytes");
}

TEST(AllReduceBench, KeepsTheMedianOfRanksAndTrials) {
  const auto run = read_well(
      "local_rank: 0\n0 data size: 4.0 GB\n1 data size: 4.0 GB\nignore me 2\n0:\n duration: 0.6 sec\n"
      " algo throughput: 104487664227.6784 bps, 104.4877 Gbps\n busbw: 80.0  Gbps\n1:\n duration: 0.5 sec\n"
      " algo throughput: 1 bps, 104.4877 Gbps\n busbw: 88.0  Gbps\n duration: 0.5 sec\n busbw: 96.0  Gbps\n");
  EXPECT_EQ(number(run, kBandwidth, "all_reduce 4.0 GB, 2 ranks"), 11e9);
}

TEST(AllReduceBench, ReadsTheLaterTableInBytes) {
  const auto run = read_well(
      "The average bandwidth of all_reduce over 16 ranks (5 warmups / 20 trials):\n\n"
      "| payload |    busbw   |    algbw   |\n| ------: | ---------: | ---------: |\n"
      "|    32KB |   0.22GBps |   0.12GBps |\n|    16GB | 450.10GBps | 240.05GBps |\n");
  EXPECT_EQ(number(run, kBandwidth, "all_reduce 16 GiB, 16 ranks"), 450.1e9);
  EXPECT_EQ(number(run, kBandwidth, "all_reduce 32 KiB, 16 ranks"), 0.22e9);
  EXPECT_EQ(number(run, "job.world_size"), 16);
}

}  // namespace
}  // namespace gradwatt::ingest
