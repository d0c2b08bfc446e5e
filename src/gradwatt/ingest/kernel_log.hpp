// The kernel's log (dmesg, journalctl -k, syslog, /dev/kmsg): what the NVIDIA driver says of its GPUs, ports that lose
// their carrier, processes killed for want of memory.
//
// "NVRM: Xid (PCI:0000:9b:00): 119, pid=…, text" names GPU, number and reason; catalog/xid.hpp says what a number
// means.
#pragma once

#include <memory>

#include "gradwatt/ingest/import_options.hpp"
#include "gradwatt/ingest/line_witness.hpp"

namespace gradwatt::ingest {

/// Facts: gpu.xid (each number once a GPU), gpu.lost, host.link_flaps, host.oom_kills, and comm.warning for crashes
/// within NCCL and errors of nvidia-peermem and NVSwitch. A GPU is named by its UUID where the log tells it, else as
/// "PCI 0000:9b:00". Events "gpu.xid" where lines have a date. Other lines of a kernel log are claimed and say nothing.
[[nodiscard]] std::unique_ptr<LineWitness> make_kernel_log(const ImportOptions& options);

}  // namespace gradwatt::ingest
