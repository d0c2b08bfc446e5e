#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "gradwatt/training/gradient_sync/gradient_sync.hpp"

namespace gradwatt::training {
namespace {

std::vector<std::size_t> bytes_of(const NamedTensors& parameters,
                                  const std::vector<std::vector<std::size_t>>& buckets) {
  std::vector<std::size_t> bytes;
  for (const auto& bucket : buckets) {
    std::size_t sum = 0;
    for (const auto i : bucket) sum += parameters[i].second.nbytes();
    bytes.push_back(sum);
  }
  return bytes;
}

TEST(Buckets, BeginAtTheEndAndCloseWhenTheyReachTheirLimit) {
  NamedTensors parameters;
  for (const auto n : {100, 200, 300, 50, 10}) parameters.emplace_back(std::to_string(n), at::empty({n}));
  // 10 + 50 floats reach 200 bytes, 300 reach 1000, the rest is what is left.
  EXPECT_EQ(bytes_of(parameters, buckets_of(parameters, 200, 1000)), (std::vector<std::size_t>{240, 1200, 1200}));
}

TEST(Buckets, EachTensorIsInExactlyOneAndTypesDoNotMix) {
  NamedTensors parameters;
  for (int i = 0; i < 20; ++i)
    parameters.emplace_back(std::to_string(i), at::empty({i + 1}, i % 5 == 0 ? at::kDouble : at::kFloat));
  const auto buckets = buckets_of(parameters, 64, 256);
  std::vector<int> seen(20, 0);
  for (const auto& bucket : buckets)
    for (const auto i : bucket) {
      ++seen[i];
      EXPECT_EQ(parameters[i].second.scalar_type(), parameters[bucket.front()].second.scalar_type());
    }
  EXPECT_EQ(seen, std::vector<int>(20, 1));
}

}  // namespace
}  // namespace gradwatt::training
