// What NCCL says with NCCL_DEBUG=INFO or WARN: which way the bytes go, over which interface, with which settings.
//
// Lines of all versions since 2.7 look like "host:pid:tid [gpu] NCCL INFO text"; what stands before (time, rank) and
// lines that several processes wrote into each other are passed over. The words that are looked for are those of NCCL's
// sources: src/transport/*.cc ("Channel … via …"), src/misc/param.cc ("… set by environment to …"), src/init.cc.
#pragma once

#include <memory>

#include "gradwatt/ingest/line_witness.hpp"

namespace gradwatt::ingest {

/// Claims NCCL's lines and the watchdog's of PyTorch's process group. Facts: comm.*, env.value (subject: the variable),
/// job.world_size, job.nodes, host.peermem, and comm.hangs where the watchdog gave up.
[[nodiscard]] std::unique_ptr<LineWitness> make_nccl_log();

}  // namespace gradwatt::ingest
