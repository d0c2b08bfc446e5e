// Collectives over a group of ranks, put together from messages, so that the messages are known: planning/collectives
// says what they cost (ring.hpp, daso.hpp for the broadcast).
//
// Each element is added once, in an order that is the same for every run, and copied from there: all ranks get bitwise
// the same. Groups may differ from rank to rank; a rank takes part in those that it stands in.
#pragma once

#include <vector>

#include "gradwatt/training/strategies/courier.hpp"

namespace gradwatt::training {

/// The part of `flat` that place `k` of `places` owns; sizes differ by one at most.
[[nodiscard]] torch::Tensor chunk_of(const torch::Tensor& flat, std::size_t k, std::size_t places);

/// This rank's chunk of `flat` becomes the sum over the group; the rest of `flat` is spent.
torch::Tensor ring_reduce_scatter(Courier& courier, const std::vector<int>& group, const torch::Tensor& flat);
/// Every rank's chunk reaches all.
void ring_all_gather(Courier& courier, const std::vector<int>& group, const torch::Tensor& flat);
/// flat ← Σ over the group.
void ring_all_reduce(Courier& courier, const std::vector<int>& group, const torch::Tensor& flat);
/// flat ← that of the rank at place `root` of the group.
void binomial_broadcast(Courier& courier, const std::vector<int>& group, std::size_t root, const torch::Tensor& flat);

/// Place of this rank in the group.
[[nodiscard]] std::size_t place_in(const std::vector<int>& group, int rank);

}  // namespace gradwatt::training
