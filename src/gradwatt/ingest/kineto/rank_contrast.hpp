// The ranks of one job side by side, once their traces are in one run: who waits for whom.
#pragma once

#include <vector>

#include "gradwatt/ingest/diagnostics.hpp"
#include "gradwatt/record/run.hpp"

namespace gradwatt::ingest::kineto {

/// Adds to a merged run what only several ranks together say, from the facts of each:
/// * trace.straggler: the rank that spends least time in collectives. The others wait inside of theirs for it
///   (diagnosis.md names HTA, TraceLens and NCCL RAS for this rule).
/// * rank.own_time_s, rank.wait_s of each rank and rank.skew_share, from step time and time in collectives.
/// Facts about the job or a kernel class, of which every file brought its own, are made one: the mean of numbers.
/// Says in `diagnostics` when ranks of the job are missing, and when no straggler can be named and why.
void contrast_ranks(record::Run& run, std::vector<Diagnostic>& diagnostics);

}  // namespace gradwatt::ingest::kineto
