// What several ranks do together. Run below mpirun; every rank runs every test.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "gradwatt/training/gradient_sync/averager.hpp"
#include "gradwatt/training/gradient_sync/gradient_sync.hpp"
#include "gradwatt/training/optimisation/guarded_update.hpp"
#include "tests/training/below_mpirun.hpp"

namespace gradwatt::training {
namespace {

/// The same on every rank, for any rank's values.
std::vector<float> values_of(int rank, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(rank) * 7919U + static_cast<unsigned>(count));
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (auto& value : values) value = normal(random);
  return values;
}

std::vector<double> mean_of_all(std::size_t count) {
  std::vector<double> mean(count, 0);
  for (int r = 0; r < ranks->size(); ++r) {
    const auto values = values_of(r, count);
    for (std::size_t i = 0; i < count; ++i) mean[i] += values[i];
  }
  for (auto& value : mean) value /= ranks->size();
  return mean;
}

/// Sum of the bits, compared over the ranks.
template <class T>
bool same_on_all_ranks(std::span<const T> values) {
  std::int64_t hash = 17;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());  // NOLINT
  for (std::size_t i = 0; i < values.size_bytes(); ++i)
    hash = static_cast<std::int64_t>(static_cast<std::uint64_t>(hash) * 31U + bytes[i]);
  std::int64_t low = hash, high = hash;
  ranks->all_reduce(std::span(&low, 1), Sum::min);
  ranks->all_reduce(std::span(&high, 1), Sum::max);
  return low == high;
}

torch::Tensor tensor_of(const std::vector<float>& values) {
  return at::tensor(at::ArrayRef<float>(values), at::kFloat);
}

struct Way {
  const char* name;
  Averager::Options options;
  double tolerance;
};
const Way kWays[] = {
    {"shared memory", {Wire::fp32, true}, 1e-6},          {"MPI", {Wire::fp32, false}, 1e-6},
    {"bf16 in shared memory", {Wire::bf16, true}, 0.03},  {"bf16 over MPI", {Wire::bf16, false}, 0.03},
    {"fp16 in shared memory", {Wire::fp16, true}, 0.004}, {"fp16 over MPI", {Wire::fp16, false}, 0.004}};

TEST(Averager, TheMeanIsTheMeanAndBitwiseTheSameOnAllRanks) {
  for (const auto& way : kWays) {
    auto averager = Averager::create(*ranks, way.options).value();
    for (const std::size_t count : {1UL, 2UL, 17UL, 1000UL, 1'048'576UL, 3'000'001UL}) {
      auto buffer = tensor_of(values_of(ranks->rank(), count));
      averager->average(buffer)->wait();
      const std::span<const float> got(buffer.data_ptr<float>(), count);
      EXPECT_TRUE(same_on_all_ranks(got)) << way.name << ' ' << count;
      const auto mean = mean_of_all(count);
      double worst = 0;
      for (std::size_t i = 0; i < count; ++i) worst = std::max(worst, std::abs(got[i] - mean[i]));
      EXPECT_LE(worst, way.tolerance) << way.name << ' ' << count;
    }
  }
}

TEST(Averager, ManyBuffersInFlightKeepTheirOrder) {
  auto averager = Averager::create(*ranks, {}).value();
  std::vector<torch::Tensor> buffers;
  std::vector<c10::intrusive_ptr<c10::ivalue::Future>> done;
  for (int i = 0; i < 50; ++i) buffers.push_back(at::full({1000 + 37 * i}, static_cast<double>(i + ranks->rank())));
  for (const auto& buffer : buffers) done.push_back(averager->average(buffer));
  for (const auto& future : done) future->wait();
  const double shift = (ranks->size() - 1) / 2.0;
  for (int i = 0; i < 50; ++i) EXPECT_NEAR(buffers[static_cast<std::size_t>(i)][0].item<double>(), i + shift, 1e-5);
  EXPECT_EQ(averager->messages(), 50);
}

TEST(Averager, DoublesKeepTheirPrecision) {
  for (const bool shared : {true, false}) {
    auto averager = Averager::create(*ranks, {Wire::fp32, shared}).value();
    auto buffer = at::full({1'000'003}, 1.0 / 3 + ranks->rank(), at::kDouble);
    averager->average(buffer)->wait();
    EXPECT_NEAR(buffer[1'000'002].item<double>(), 1.0 / 3 + (ranks->size() - 1) / 2.0, 1e-14);
  }
}

TEST(Averager, AValueThatIsNotFiniteReachesEveryRank) {
  for (const auto& way : kWays) {
    auto averager = Averager::create(*ranks, way.options).value();
    auto buffer = at::ones({100});
    if (ranks->rank() == ranks->size() - 1) buffer[42] = std::numeric_limits<float>::quiet_NaN();
    averager->average(buffer)->wait();
    EXPECT_TRUE(std::isnan(buffer[42].item<float>())) << way.name;
    EXPECT_FLOAT_EQ(buffer[41].item<float>(), 1) << way.name;
  }
}

TEST(Averager, AnotherTypeIsAnErrorOfTheFutureAndNotTheEndOfTheProcess) {
  auto averager = Averager::create(*ranks, {}).value();
  auto future = averager->average(at::ones({4}, at::kInt));
  future->wait();
  EXPECT_TRUE(future->hasError());
}

/// A small net as named parameters with a known loss.
struct Net {
  NamedTensors parameters;
  explicit Net(at::ScalarType type) {
    at::manual_seed(100 + static_cast<std::uint64_t>(ranks->rank()));  // rank 0's must win
    for (const auto& [name, shape] :
         std::vector<std::pair<std::string, std::vector<std::int64_t>>>{{"a.weight", {64, 32}},
                                                                        {"a.bias", {64}},
                                                                        {"b.weight", {128, 64}},
                                                                        {"b.bias", {128}},
                                                                        {"c.weight", {4, 128}}})
      parameters.emplace_back(name, at::randn(shape, type).mul_(0.1).requires_grad_(true));
  }
  [[nodiscard]] torch::Tensor loss(const torch::Tensor& x) const {
    const auto& p = parameters;
    auto h = at::linear(x, p[0].second, p[1].second).relu();
    h = at::linear(h, p[2].second, p[3].second).tanh();
    return at::linear(h, p[4].second).square().mean();
  }
};

torch::Tensor data_of(int rank, int step, at::ScalarType type) {
  auto generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(1000 * step + rank));
  return at::randn({8, 32}, generator, at::TensorOptions(type));
}

/// Gradients of the global batch, computed by one rank alone.
std::vector<torch::Tensor> expected_gradients(const Net& net, int step, at::ScalarType type) {
  std::vector<torch::Tensor> inputs, weights;
  for (int r = 0; r < ranks->size(); ++r) inputs.push_back(data_of(r, step, type));
  Net alone(type);
  for (std::size_t i = 0; i < net.parameters.size(); ++i)
    alone.parameters[i].second.detach().copy_(net.parameters[i].second.detach());
  alone.loss(at::cat(inputs)).backward();
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, parameter] : alone.parameters) gradients.push_back(parameter.grad());
  return gradients;
}

TEST(GradientSync, RanksTogetherGetTheGradientOfTheGlobalBatch) {
  for (const bool overlap : {true, false})
    for (const std::size_t bucket_bytes : {std::size_t{1}, std::size_t{10'000}, std::size_t{25} << 20U}) {
      Net net(at::kDouble);
      SyncOptions options;
      options.overlap = overlap;
      options.bucket_bytes = options.first_bucket_bytes = bucket_bytes;
      auto sync = make_gradient_sync(*ranks, net.parameters, options).value();
      for (int step = 0; step < 4; ++step) {
        for (auto& [name, parameter] : net.parameters)
          if (parameter.grad().defined()) parameter.mutable_grad().zero_();
        sync->begin_step();
        const auto loss = net.loss(data_of(ranks->rank(), step, at::kDouble));
        sync->before_backward(loss);
        loss.backward();
        sync->finish();
        const auto expected = expected_gradients(net, step, at::kDouble);
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_LE((net.parameters[i].second.grad() - expected[i]).abs().max().item<double>(), 1e-14)
              << net.parameters[i].first << " step " << step << (overlap ? " overlapped" : " simple");
      }
      EXPECT_EQ(sync->costs().bytes, 4 * 8 * (64 * 32 + 64 + 128 * 64 + 128 + 4 * 128));
    }
}

/// Gradients whose every partial sum is a whole number: no order of adding can change a bit.
TEST(GradientSync, AnyBucketSizeAndOverlapGiveBitwiseTheSameOnWholeNumbers) {
  const auto gradients_with = [](bool overlap, std::size_t bucket_bytes) {
    NamedTensors parameters;
    for (const std::int64_t n : {300, 7, 1000, 64, 1})
      parameters.emplace_back(std::to_string(n), at::zeros({n}).requires_grad_(true));
    SyncOptions options;
    options.overlap = overlap;
    options.bucket_bytes = options.first_bucket_bytes = bucket_bytes;
    auto sync = make_gradient_sync(*ranks, parameters, options).value();
    std::vector<torch::Tensor> gradients;
    for (int step = 0; step < 3; ++step) {  // the Reducer's second step has other buckets than its first
      for (auto& [name, parameter] : parameters)
        if (parameter.grad().defined()) parameter.mutable_grad().zero_();
      sync->begin_step();
      auto loss = at::zeros({});
      for (const auto& [name, parameter] : parameters) {
        const auto slope = at::arange(parameter.numel()).remainder(17).add(ranks->rank() + step).mul(ranks->size());
        loss = loss + parameter.mul(slope).sum();
      }
      sync->before_backward(loss);
      loss.backward();
      sync->finish();
    }
    for (const auto& [name, parameter] : parameters) gradients.push_back(parameter.grad().clone());
    return gradients;
  };
  const auto one = gradients_with(false, std::size_t{25} << 20U);
  for (const bool overlap : {true, false})
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{500}, std::size_t{25} << 20U}) {
      const auto other = gradients_with(overlap, bytes);
      for (std::size_t i = 0; i < one.size(); ++i)
        EXPECT_TRUE(one[i].equal(other[i])) << i << (overlap ? " overlapped, " : " simple, ") << bytes;
    }
}

/// What one rank cannot represent, no rank applies: the average carries it to all.
TEST(GradientSync, AnOverflowOnOneRankSkipsTheUpdateOnAllAndHalvesEveryScale) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    for (const auto wire : {Wire::fp32, Wire::bf16, Wire::fp16}) {
      NamedTensors parameters{{"w", at::ones({1000}).requires_grad_(true)}};
      SyncOptions options;
      options.averager.wire = wire;
      auto sync = make_gradient_sync(*ranks, parameters, options).value();
      auto optimizer = make_optimizer({}, parameters).value();
      LossScaler scaler({.initial = 8});
      for (int step = 0; step < 3; ++step) {
        optimizer->zero_gradients();
        sync->begin_step();
        auto slope = at::ones({1000});
        if (step == 1 && ranks->rank() == ranks->size() - 1) slope[7] = bad;
        const auto loss = parameters[0].second.mul(slope).sum().mul(scaler.scale());
        sync->before_backward(loss);
        loss.backward();
        sync->finish();
        const auto before = parameters[0].second.detach().clone();
        EXPECT_EQ(guarded_update(*optimizer, scaler, {.look_for_overflow = true}, 0.1), step != 1);
        EXPECT_EQ(parameters[0].second.detach().equal(before), step == 1);
        EXPECT_TRUE(same_on_all_ranks(std::span<const float>(parameters[0].second.data_ptr<float>(), 1000)));
      }
      EXPECT_EQ(scaler.scale(), 4);
    }
}

TEST(GradientSync, SilentMicroStepsSendNothingAndCountInFull) {
  Net net(at::kDouble);
  auto sync = make_gradient_sync(*ranks, net.parameters, {}).value();
  for (int micro = 0; micro < 3; ++micro) {
    const bool last = micro == 2;
    if (last) sync->begin_step();
    const auto loss = net.loss(data_of(ranks->rank(), micro, at::kDouble)).div(3);
    if (last) sync->before_backward(loss);
    loss.backward();
    if (!last) {
      EXPECT_EQ(sync->costs().messages, 0);
    }
    if (last) sync->finish();
  }
  for (std::size_t i = 0; i < net.parameters.size(); ++i) {
    auto expected = at::zeros_like(net.parameters[i].second);
    for (int micro = 0; micro < 3; ++micro) expected += expected_gradients(net, micro, at::kDouble)[i] / 3;
    EXPECT_LE((net.parameters[i].second.grad() - expected).abs().max().item<double>(), 1e-14);
  }
}

TEST(GradientSync, ParametersBecomeThoseOfRankZero) {
  Net net(at::kFloat);
  auto sync = make_gradient_sync(*ranks, net.parameters, {}).value();
  for (const auto& [name, parameter] : net.parameters)
    EXPECT_TRUE(same_on_all_ranks(
        std::span<const float>(parameter.data_ptr<float>(), static_cast<std::size_t>(parameter.numel()))));
}

TEST(GradientSync, RanksWithDifferentModelsAreRefusedByName) {
  Net net(at::kFloat);
  if (ranks->rank() == 1) net.parameters[3].first = "b.offset";
  const auto sync = make_gradient_sync(*ranks, net.parameters, {});
  ASSERT_FALSE(sync);
  EXPECT_NE(sync.error().message.find("b.offset"), std::string::npos) << sync.error().message;
}

TEST(GradientSync, AParameterThatGotNoGradientIsAnErrorAndNotSilence) {
  Net net(at::kFloat);
  net.parameters.emplace_back("unused", at::ones({3}).requires_grad_(true));
  auto sync = make_gradient_sync(*ranks, net.parameters, {}).value();
  const auto step = [&] {
    sync->begin_step();
    const auto loss = net.loss(data_of(ranks->rank(), 0, at::kFloat));
    sync->before_backward(loss);
    loss.backward();
    sync->finish();
  };
  try {
    step();
    step();
    ADD_FAILURE() << "the second step went through";
  } catch (const c10::Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("Expected to have finished reduction", 0), 0U) << error.what();
  }
}

TEST(Communicator, EveryRankHearsWhatEveryRankSays) {
  const auto said = ranks->all_gather("I am " + std::to_string(ranks->rank()));
  for (int r = 0; r < ranks->size(); ++r) EXPECT_EQ(said[static_cast<std::size_t>(r)], "I am " + std::to_string(r));
  EXPECT_EQ(ranks->broadcast(ranks->rank() == 0 ? "from zero" : "", 0), "from zero");
}

}  // namespace
}  // namespace gradwatt::training
