#include "gradwatt/training/optimisation/optimizer.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

namespace gradwatt::training {
namespace {

torch::Tensor parameter(const torch::Tensor& value) { return value.clone().requires_grad_(true); }

/// Weight (3, 4) with gradient (0.6, 0.8): the values of which the literature gives the steps.
NamedTensors known_case(std::int64_t dimensions = 2) {
  auto w = at::tensor({3.0, 4.0}, at::kDouble);
  auto g = at::tensor({0.6, 0.8}, at::kDouble);
  if (dimensions == 2) w = w.view({1, 2}), g = g.view({1, 2});
  w = parameter(w);
  w.mutable_grad() = g;
  return {{"w", w}};
}

std::vector<double> values(const torch::Tensor& tensor) {
  const auto flat = tensor.detach().to(at::kDouble).contiguous().view({-1});
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

TEST(Lars, TakesTheKnownStep) {
  const auto parameters = known_case();
  auto lars = make_optimizer({.name = "lars", .momentum = 0, .weight_decay = 1e-4}, parameters).value();
  lars->step(1);
  const auto w = values(parameters[0].second);
  EXPECT_NEAR(3 - w[0], 0.0030000003, 1e-9);
  EXPECT_NEAR(4 - w[1], 0.0040000002, 1e-9);
}

TEST(Lars, TheStepDoesNotDependOnTheScaleOfTheGradient) {
  for (const double scale : {1e-3, 1.0, 1e4}) {
    const auto parameters = known_case();
    parameters[0].second.mutable_grad().mul_(scale);
    auto lars = make_optimizer({.name = "lars", .momentum = 0}, parameters).value();
    lars->step(1);
    EXPECT_NEAR(values(parameters[0].second)[0], 2.997, 1e-12) << scale;
  }
}

TEST(Lars, VectorsMayBeSparedScalingAndDecay) {
  const auto parameters = known_case(1);
  auto lars =
      make_optimizer({.name = "lars", .momentum = 0, .weight_decay = 0.1, .spare_vectors = true}, parameters).value();
  lars->step(0.1);
  EXPECT_NEAR(values(parameters[0].second)[0], 3 - 0.06, 1e-12);
}

TEST(Lars, AZeroWeightMovesByThePlainRate) {
  auto w = parameter(at::zeros({1, 2}, at::kDouble));
  w.mutable_grad() = at::ones({1, 2}, at::kDouble);
  auto lars = make_optimizer({.name = "lars", .momentum = 0}, {{"w", w}}).value();
  lars->step(0.5);
  EXPECT_EQ(values(w)[0], -0.5);
}

TEST(Lamb, TakesTheKnownStep) {
  const auto parameters = known_case();
  auto lamb = make_optimizer({.name = "lamb", .weight_decay = 0.01}, parameters).value();
  lamb->step(0.1);
  const auto w = values(parameters[0].second);
  EXPECT_NEAR(w[0], 2.6481588, 1e-7);
  EXPECT_NEAR(w[1], 3.6447427, 1e-7);
}

/// Runs ours and LibTorch's beside each other on the same gradients.
template <class Theirs>
void expect_same(const OptimizerSpec& spec, Theirs make_theirs, at::ScalarType type, double tolerance,
                 bool channels_last) {
  at::manual_seed(1);
  auto start = at::randn({4, 3, 5, 5}, type);
  if (channels_last) start = start.contiguous(at::MemoryFormat::ChannelsLast);
  auto ours = parameter(start), theirs = parameter(start);
  auto optimizer = make_optimizer(spec, {{"w", ours}}).value();
  auto reference = make_theirs(std::vector<torch::Tensor>{theirs});
  for (int step = 0; step < 5; ++step) {
    auto gradient = at::randn_like(start);
    ours.mutable_grad() = gradient.clone();
    theirs.mutable_grad() = gradient.clone();
    optimizer->step(0.05);
    reference->step();
    EXPECT_LE((ours - theirs).abs().max().item<double>(), tolerance) << step;
  }
}

auto torch_sgd(bool nesterov) {
  return [=](std::vector<torch::Tensor> w) {
    return std::make_unique<torch::optim::SGD>(
        w, torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(1e-4).nesterov(nesterov));
  };
}

TEST(Sgd, IsLibTorchs) {
  for (const bool nesterov : {false, true})
    for (const bool channels_last : {false, true}) {
      const OptimizerSpec spec{.nesterov = nesterov, .weight_decay = 1e-4};
      expect_same(spec, torch_sgd(nesterov), at::kDouble, 1e-14, channels_last);
      expect_same(spec, torch_sgd(nesterov), at::kFloat, 1e-6, channels_last);
    }
}

TEST(AdamW, IsLibTorchs) {
  const auto theirs = [](std::vector<torch::Tensor> w) {
    return std::make_unique<torch::optim::AdamW>(w, torch::optim::AdamWOptions(0.05).weight_decay(0.01));
  };
  for (const bool channels_last : {false, true}) {
    expect_same({.name = "adamw", .weight_decay = 0.01}, theirs, at::kDouble, 1e-13, channels_last);
    expect_same({.name = "adamw", .weight_decay = 0.01}, theirs, at::kFloat, 2e-6, channels_last);
  }
}

TEST(Optimizer, AGradientOfAnotherLayoutTakesTheSlowWayToTheSameWeights) {
  for (const auto* name : {"sgd", "adamw", "lars"}) {
    at::manual_seed(2);
    const auto start = at::randn({4, 3, 5, 5}, at::kDouble), gradient = at::randn({4, 3, 5, 5}, at::kDouble);
    auto a = parameter(start), b = parameter(start);
    a.mutable_grad() = gradient.clone();
    b.mutable_grad() = gradient.contiguous(at::MemoryFormat::ChannelsLast);
    for (auto& w : {a, b}) {
      auto optimizer = make_optimizer({.name = name, .weight_decay = 0.1}, {{"w", w}}).value();
      optimizer->step(0.1);
      optimizer->step(0.1);
    }
    EXPECT_LE((a - b).abs().max().item<double>(), 1e-14) << name;
  }
}

TEST(Optimizer, ParametersWithoutAGradientStay) {
  auto w = parameter(at::ones({2}));
  auto optimizer = make_optimizer({.weight_decay = 0.5}, {{"w", w}}).value();
  optimizer->step(1);
  EXPECT_EQ(values(w), (std::vector<double>{1, 1}));
}

TEST(Optimizer, ARestoredOneGoesOnBitwise) {
  for (const auto name : optimizer_names()) {
    const OptimizerSpec spec{.name = std::string(name), .weight_decay = 0.01};
    const auto a = known_case(), b = known_case();
    auto first = make_optimizer(spec, a).value();
    first->step(0.1);
    auto second = make_optimizer(spec, b).value();
    b[0].second.detach().copy_(a[0].second.detach());
    ASSERT_TRUE(second->load(first->state()));
    first->step(0.1);
    second->step(0.1);
    EXPECT_EQ(values(a[0].second), values(b[0].second)) << name;
  }
}

TEST(Optimizer, AStateOfAnotherOptimizerIsRefusedAndChangesNothing) {
  auto sgd = make_optimizer({}, known_case()).value();
  auto adam = make_optimizer({.name = "adamw"}, known_case()).value();
  const auto result = adam->load(sgd->state());
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("mean/w"), std::string::npos);
}

TEST(Optimizer, WrongNamesAndValuesAreRefused) {
  EXPECT_NE(make_optimizer({.name = "adam"}, {}).error().message.find("adamw"), std::string::npos);
  EXPECT_FALSE(make_optimizer({.momentum = 1.5}, {}));
  EXPECT_FALSE(make_optimizer({.momentum = 0, .nesterov = true}, {}));
}

}  // namespace
}  // namespace gradwatt::training
