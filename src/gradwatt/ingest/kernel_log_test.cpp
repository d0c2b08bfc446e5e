#include "gradwatt/ingest/kernel_log.hpp"

#include "gradwatt/ingest/fact_queries.hpp"
#include "gradwatt/ingest/pci_address.hpp"

namespace gradwatt::ingest {
namespace {

using ::testing::HasSubstr;

TEST(KernelLog, AnXidIsAFactOfItsGpuAndAnEvent) {
  const auto run = read_well(
      "[Sun Feb 23 16:24:18 2025] NVRM: GPU at PCI:0000:9b:00: GPU-50966\n"
      "[Sun Feb 23 16:24:18 2025] NVRM: Xid (PCI:0000:9b:00): 119, pid=20, name=x, Timeout after 6s\n"
      "[Sun Feb 23 16:24:28 2025] NVRM: Xid (PCI:0000:9b:00): 119, pid=20, name=x, Timeout after 6s\n"
      "[Sun Feb 23 16:24:29 2025] NVRM: Xid (PCI:0000:3b:00): 79, pid=20, GPU has fallen off the bus.\n");
  EXPECT_EQ(number(run, "gpu.xid", "GPU-50966"), 119);
  EXPECT_EQ(number(run, "gpu.xid", "PCI 0000:3b:00"), 79);
  EXPECT_EQ(number(run, "gpu.lost", "PCI 0000:3b:00"), 1);
  EXPECT_EQ(find(run, "gpu.xid", "GPU-50966")->time_ns, 1740327858'000000000);
  ASSERT_EQ(run.run.events.size(), 3U);
  EXPECT_EQ(run.run.events.front().kind, "gpu.xid");
  EXPECT_THAT(said(run), HasSubstr("Xid 119 of GPU-50966, 2 times in all"));
}

TEST(KernelLog, KnowsTheFormsThatLogsHave) {
  for (const std::string head : {"[  201.650687] ", "<4>[  201.650687] ", "4,3964,206764307,-;",
                                 "kern  :warn  : 2025-01-21T04:41:44,285060+00:00 ", "Aug 17 06:18:01 host kernel: ",
                                 "2025-01-21T04:41:44.285060+00:00 host kernel: ", ""}) {
    SCOPED_TRACE(head);
    const auto run = read_well(head + "NVRM: Xid (PCI:0000:38:00): 13, pid=7, Graphics Exception\n");
    EXPECT_EQ(number(run, "gpu.xid", "PCI 0000:38:00"), 13);
  }
}

TEST(KernelLog, LostCarriersKilledProcessesAndCrashesInNcclAreFacts) {
  const auto run = read_well(
      "Aug 17 06:18:01 host systemd-networkd[5398]: ib6: lost carrier\n"
      "Aug 17 06:18:06 host systemd-networkd[5398]: ib6: Gained carrier\n"
      "Aug 17 06:18:07 host systemd-networkd[5398]: ib6: lost carrier\n"
      "Aug 17 06:18:08 host kernel: Out of memory: Killed process 77 (python) total-vm:1kB\n"
      "Aug 17 06:18:09 host kernel: pt_main[25]: segfault at 7f ip 00 error 4 in libnccl.so.2[7f7c+d3]\n");
  EXPECT_EQ(number(run, "host.link_flaps", "ib6"), 2);
  EXPECT_EQ(number(run, "host.oom_kills", "host"), 1);
  EXPECT_THAT(text(run, "comm.warning", "host").value_or(""), HasSubstr("libnccl"));
  EXPECT_TRUE(run.run.events.empty()) << "a date without year is no time";
}

TEST(KernelLog, APortWithoutNameIsNone) {
  EXPECT_EQ(read_well("[    1.000001] : lost carrier\n").run.facts.size(), 0U);
}

TEST(KernelLog, OneWithoutTroubleIsNewsToo) {
  EXPECT_THAT(said(read_well("[    1.000001] Linux version 6\n[    1.000002] NVRM: loading NVIDIA UNIX Module\n")),
              HasSubstr("2 lines of the kernel, none about a GPU or link in trouble"));
}

TEST(KernelLog, BracketsOfOtherProgramsAreNotTheKernels) {
  EXPECT_THAT(refused("[2024-07-28 10:45:12,908] torch.distributed.run: hello\n"), HasSubstr("line 1"));
  EXPECT_THAT(refused("[1] \"H-1\"[1] # lid 2\n"), HasSubstr("line 1"));
  EXPECT_THAT(refused("[Feb 25 2025 13:59:45] [INFO] [tid 1803] Received\n"), HasSubstr("line 1"));
}

TEST(PciAddress, IsOneForAllWaysOfWritingIt) {
  for (const auto* text : {"PCI:0000:9b:00", "00000000:9B:00.0", "0000:9b:00.0", "9b:00.0"})
    EXPECT_EQ(pci_address(text), "0000:9b:00") << text;
  for (const auto* text : {"", "9b", "GPU-9b", "zz:00.0", "0000:9b:00:00:00"}) EXPECT_EQ(pci_address(text), "") << text;
}

TEST(PciListing, ComparesTheLinkWithWhatCardAndSlotCouldDo) {
  const auto run = read_well(
      "00:01.0 PCI bridge: Some Root Port (rev 07)\n"
      "\t\tACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-\n\n"
      "17:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev a1)\n"
      "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported\n"
      "\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x8 (downgraded)\n");
  EXPECT_EQ(number(run, "gpu.pcie_gen_max", "PCI 0000:17:00"), 4);
  EXPECT_EQ(number(run, "gpu.pcie_gen", "PCI 0000:17:00"), 3);
  EXPECT_EQ(number(run, "gpu.pcie_width_max", "PCI 0000:17:00"), 16);
  EXPECT_EQ(number(run, "gpu.pcie_width", "PCI 0000:17:00"), 8);
  EXPECT_EQ(text(run, "host.acs", "host"), "on");
  EXPECT_THAT(said(run), HasSubstr("look again under load"));
}

TEST(PciListing, WithoutBitsOfAccessControlItSaysNothingOfIt) {
  const auto run =
      read_well("17:00.0 VGA compatible controller: NVIDIA Corporation Card\n\t\tLnkSta:\tSpeed unknown, Width x16\n");
  EXPECT_EQ(text(run, "host.acs", "host"), std::nullopt);
  EXPECT_EQ(number(run, "gpu.pcie_gen", "PCI 0000:17:00"), std::nullopt);
  EXPECT_EQ(number(run, "gpu.pcie_width", "PCI 0000:17:00"), 16);
}

}  // namespace
}  // namespace gradwatt::ingest
