#include "gradwatt/training/strategies/rings.hpp"

#include <ATen/ATen.h>

#include <algorithm>

namespace gradwatt::training {

std::size_t place_in(const std::vector<int>& group, int rank) {
  return static_cast<std::size_t>(std::ranges::find(group, rank) - group.begin());
}

torch::Tensor chunk_of(const torch::Tensor& flat, std::size_t k, std::size_t places) {
  const auto count = flat.numel(), p = static_cast<std::int64_t>(places), i = static_cast<std::int64_t>(k);
  const auto begin = count * i / p, end = count * (i + 1) / p;
  return flat.narrow(0, begin, end - begin);
}

torch::Tensor ring_reduce_scatter(Courier& courier, const std::vector<int>& group, const torch::Tensor& flat) {
  const std::size_t p = group.size(), i = place_in(group, courier.rank());
  // Round r: the chunk r + 1 before ours goes on, the one before that comes; after p − 1 rounds ours has been
  // everywhere.
  for (std::size_t r = 0; r + 1 < p; ++r) {
    const auto out = chunk_of(flat, (i + 2 * p - r - 1) % p, p), sum = chunk_of(flat, (i + 2 * p - r - 2) % p, p);
    auto in = at::empty_like(sum);
    courier.exchange({{group[(i + 1) % p], bytes_of(out)}}, {{group[(i + p - 1) % p], bytes_of(in)}});
    sum.add_(in);
  }
  return chunk_of(flat, i, p);
}

void ring_all_gather(Courier& courier, const std::vector<int>& group, const torch::Tensor& flat) {
  const std::size_t p = group.size(), i = place_in(group, courier.rank());
  for (std::size_t r = 0; r + 1 < p; ++r) {
    const auto out = chunk_of(flat, (i + p - r) % p, p), in = chunk_of(flat, (i + 2 * p - r - 1) % p, p);
    courier.exchange({{group[(i + 1) % p], bytes_of(out)}}, {{group[(i + p - 1) % p], bytes_of(in)}});
  }
}

void ring_all_reduce(Courier& courier, const std::vector<int>& group, const torch::Tensor& flat) {
  ring_reduce_scatter(courier, group, flat);
  ring_all_gather(courier, group, flat);
}

void binomial_broadcast(Courier& courier, const std::vector<int>& group, std::size_t root, const torch::Tensor& flat) {
  const std::size_t p = group.size(), i = (place_in(group, courier.rank()) + p - root) % p;
  const auto at = [&](std::size_t k) { return group[(k + root) % p]; };
  // Places below `reach` have it already; each hands it to the one that lies so far ahead.
  for (std::size_t reach = 1; reach < p; reach *= 2) {
    if (i < reach && i + reach < p) courier.exchange({{at(i + reach), bytes_of(flat)}}, {});
    if (i >= reach && i < 2 * reach) courier.exchange({}, {{at(i - reach), bytes_of(flat)}});
  }
}

}  // namespace gradwatt::training
