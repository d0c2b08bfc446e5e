// Output of the all_reduce benchmarks in PyTorch that people run instead of nccl-tests (all_reduce_bench.py).
#pragma once

#include <memory>

#include "gradwatt/ingest/line_witness.hpp"

namespace gradwatt::ingest {

/// Fact comm.bus_bandwidth_bytes_per_s by size. The first form prints bits a second for each rank and trial: the median
/// is kept. The later form is a table of payload, busbw and algbw in bytes ("98.34GBps").
[[nodiscard]] std::unique_ptr<LineWitness> make_all_reduce_bench();

}  // namespace gradwatt::ingest
