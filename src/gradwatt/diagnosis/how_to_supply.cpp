// What supplies a fact that is missing: the first row whose beginning matches its name.
#include <array>

#include "gradwatt/diagnosis/diagnose.hpp"

namespace gradwatt::diagnosis {
namespace {

struct Supply {
  std::string_view begins, how;
};
constexpr auto kSupplies = std::to_array<Supply>({
    {"trace.", "a trace of a few steps by torch.profiler, given to gradwatt diagnose; or gradwatt run --drill-down"},
    {"gpu.sm_active_pct",
     "a Hopper or newer GPU measured by gradwatt run; DCGM's profiling fields on Volta and Ampere"},
    {"gpu.tensor_active_pct",
     "a Hopper or newer GPU measured by gradwatt run; DCGM's profiling fields on Volta and Ampere"},
    {"gpu.dram_active_pct",
     "a Hopper or newer GPU measured by gradwatt run; DCGM's profiling fields on Volta and Ampere"},
    {"gpu.fp32_active_pct",
     "a Hopper or newer GPU measured by gradwatt run; DCGM's profiling fields on Volta and Ampere"},
    {"gpu.xid", "the kernel's log: dmesg | grep Xid, given to gradwatt diagnose"},
    {"gpu.lost", "the kernel's log: dmesg | grep -i 'Xid\\|fallen off', given to gradwatt diagnose"},
    {"gpu.power_cable", "a look into the machine"},
    {"gpu.", "gradwatt run on the GPU host, or nvidia-smi -q -x > smi.xml under load, given to gradwatt diagnose"},
    {"host.acs", "lspci -vvv (as root) > lspci.txt, given to gradwatt diagnose: ACSCtl of the bridges"},
    {"host.iommu", "cat /proc/cmdline and dmesg | grep -i iommu"},
    {"host.peermem", "lsmod | grep nvidia_peermem, and NCCL_DEBUG=INFO"},
    {"host.data_storage", "df -T and lsblk -o NAME,ROTA on the folder of the data"},
    {"host.", "gradwatt run on that host"},
    {"comm.bus_bandwidth", "all_reduce_perf of nccl-tests on the same GPUs, its output given to gradwatt diagnose"},
    {"comm.expected", "the rate of the slowest link on the path"},
    {"comm.p2p_possible", "nvidia-smi topo -p2p r, or p2pBandwidthLatencyTest"},
    {"comm.topology", "nvidia-smi topo -m"},
    {"comm.proxy_wait_share", "gradwatt run with NCCL_SET_THREAD_NAME=1, which names NCCL's threads"},
    {"comm.hangs_without_p2p", "one run with NCCL_P2P_DISABLE=1"},
    {"comm.rdma_ports_active", "ibstat, or ls /sys/class/infiniband"},
    {"comm.link_bits_per_s", "ethtool INTERFACE | grep Speed, or iperf3 between two hosts"},
    {"comm.collectives", "a trace of a few steps by torch.profiler"},
    {"comm.bytes", "a trace of a few steps by torch.profiler"},
    {"comm.", "one run with NCCL_DEBUG=INFO and NCCL_DEBUG_FILE, the file given to gradwatt diagnose"},
    {"env.", "gradwatt run (it reads the job's environment), or env | grep NCCL"},
    {"step.", "gradwatt run with the PyTorch agent, or a training log with time and data columns"},
    {"epoch.", "gradwatt run with the PyTorch agent over more than one epoch"},
    {"rank.", "gradwatt run with the PyTorch agent on all ranks, or a trace of each rank"},
    {"scaling.", "the same job at two sizes: gradwatt run each, then gradwatt compare"},
    {"loader.transfer", "how the data pipeline hands batches over: shared memory, pickle, socket"},
    {"loader.kind", "the kind of the data set: map, iterable, streaming"},
    {"loader.alone", "time one pass over the loader without training"},
    {"loader.", "gradwatt run with the PyTorch agent; it reads the DataLoader"},
    {"python.", "gradwatt run with the PyTorch agent"},
    {"torch.", "gradwatt run with the PyTorch agent"},
    {"ddp.", "gradwatt run with the PyTorch agent"},
    {"job.", "gradwatt run, or the launch line and settings of the job"},
    {"main.", "gradwatt run: it watches the training thread"},
});

}  // namespace

std::string how_to_supply(std::string_view fact) {
  for (const auto& row : kSupplies)
    if (fact.starts_with(row.begins)) return std::string(row.how);
  return "a facts file: gradwatt diagnose --facts FILE";
}

}  // namespace gradwatt::diagnosis
