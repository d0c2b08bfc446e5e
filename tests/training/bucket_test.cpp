#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "gradwatt/training/gradient_sync/gradient_sync.hpp"
#include "gradwatt/training/models/model.hpp"

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

constexpr std::size_t kMiB = std::size_t{1} << 20U;

NamedTensors parameters_of(const ModelSpec& spec) {
  NamedTensors parameters;
  const auto model = make_model(complete_spec(spec).value(), 1).value();
  for (const auto& item : model->named_parameters()) parameters.emplace_back(item.key(), item.value());
  return parameters;
}

struct Known {
  const char* model;
  std::vector<std::size_t> bytes;  // as DistributedDataParallel cuts them after its rebuild: 1 MiB, then 25 MiB
};
const Known kKnown[] = {
    {"resnet50", {8196000, 31502336, 26255360, 26550272, 9724160}},
    {"resnet18", {2052000, 28852224, 15853824}},
    {"fourcastnet",
     {3932160, 29540352, 29543424, 30738432, 29543424, 30738432, 29543424, 30738432, 29543424, 54905856}}};

TEST(Buckets, OfTheModelsAreTheKnownOnes) {
  for (const auto& known : kKnown) {
    const auto parameters = parameters_of({.name = known.model});
    EXPECT_EQ(bytes_of(parameters, buckets_of(parameters, kMiB, 25 * kMiB)), known.bytes) << known.model;
    std::size_t all = 0, in_buckets = 0;
    for (const auto& [name, parameter] : parameters) all += 4 * static_cast<std::size_t>(parameter.numel());
    for (const auto bytes : known.bytes) in_buckets += bytes;
    EXPECT_EQ(in_buckets, all) << known.model;
  }
}

TEST(Buckets, OfResNet50AreAsManyAsKnownForOtherLimits) {
  const auto parameters = parameters_of({.name = "resnet50"});
  for (const auto& [limit, count] : {std::pair<std::size_t, std::size_t>{5, 13}, {50, 3}, {1, 35}})
    EXPECT_EQ(buckets_of(parameters, kMiB, limit * kMiB).size(), count) << limit << " MiB";
}

}  // namespace
}  // namespace gradwatt::training
