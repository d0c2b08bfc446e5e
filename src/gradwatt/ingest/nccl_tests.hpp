// Output of nccl-tests (all_reduce_perf and its sisters) and of the all_reduce benchmarks in PyTorch: how fast the
// links really are.
//
// Bandwidth is nccl-tests' bus bandwidth: the algorithm's, times 2(n−1)/n for an all-reduce over n ranks, (n−1)/n for
// all-gather, reduce-scatter and all-to-all, 1 else (its doc/PERFORMANCE.md), so that it compares with a link's speed
// whatever n is. Its GB is 1e9 bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gradwatt/ingest/line_witness.hpp"

namespace gradwatt::ingest {

/// Facts: comm.bus_bandwidth_bytes_per_s by size ("all_reduce 1 GiB, 16 ranks") and on average, job.world_size,
/// job.nodes, gpu.name, comm.nccl_version, job.kind; comm.warning where values were wrong or the test failed.
[[nodiscard]] std::unique_ptr<LineWitness> make_nccl_tests();

/// "1 GiB", "21 MiB", "600 bytes".
[[nodiscard]] std::string size_text(std::int64_t bytes);

}  // namespace gradwatt::ingest
