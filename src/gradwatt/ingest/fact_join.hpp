// Facts of one job from several witnesses or files: every rank's NCCL log says the same, or its own part of it.
#pragma once

#include <string_view>
#include <vector>

#include "gradwatt/record/fact.hpp"

namespace gradwatt::ingest {

/// Drops what was said before word for word, and of figures that each rank sees a part of (the path between GPUs,
/// ranks, hosts) keeps the one that holds for the whole. All other facts stay, in their order.
void join_facts(std::vector<record::Fact>& facts);

/// How much a path between GPUs holds up a job: sockets most, then other networks, copies through host memory, peers.
[[nodiscard]] int weight_of_transport(std::string_view transport);

}  // namespace gradwatt::ingest
