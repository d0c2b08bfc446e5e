// Results of residual networks against values from an independent implementation (PyTorch with torchvision).
#include "gradwatt/training/models/resnet.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "gradwatt/training/models/golden_fill.hpp"
#include "gradwatt/training/models/loss.hpp"

namespace gradwatt::training {
namespace {

/// Convolutions are Weyl values by the running index of all parameters, fc.weight a tenth of them; norms 1 and 0.
void fill_weyl(Model& model) {
  const at::NoGradGuard no_grad;
  std::int64_t k = 0;
  for (const auto& item : model.named_parameters()) {
    auto parameter = item.value();
    const bool is_head = item.key() == "fc.weight";
    if (parameter.dim() == 1) {
      parameter.fill_(item.key().ends_with("weight") ? 1 : 0);
    } else {
      parameter.copy_(
          filled(parameter.sizes().vec(), at::kDouble, [&](auto i) { return (is_head ? 0.1 : 1.0) * weyl(k + i); }));
    }
    k += parameter.numel();
  }
}

struct Golden {
  std::shared_ptr<Model> model;
  torch::Tensor logits, loss;
};

Golden run_golden(const std::string& name) {
  at::set_num_threads(1);
  Golden run{must_make({.name = name, .out_channels = 10}), {}, {}};
  run.model->to(at::kDouble);
  fill_weyl(*run.model);
  const auto input = filled({2, 3, 64, 64}, at::kDouble, [](auto i) { return 2 * weyl(i + 7); });
  run.logits = run.model->forward(input);
  run.loss = cross_entropy(run.logits, at::tensor({3, 7}, at::kLong));
  run.loss.backward();
  return run;
}

TEST(ResNet18, GivesTheGoldenLogitsLossGradientAndStatistics) {
  const auto run = run_golden("resnet18");
  EXPECT_NEAR(element(run.logits, 0), 0.15159295, 5e-9);
  EXPECT_NEAR(element(run.logits, 1), 0.22409353, 5e-9);
  EXPECT_NEAR(element(run.logits, 2), -0.03988397, 5e-9);
  EXPECT_NEAR(run.logits.sum().item<double>(), 0.21655777, 5e-9);
  EXPECT_NEAR(run.loss.item<double>(), 2.47259234, 5e-9);
  EXPECT_NEAR(gradient_norm(*run.model), 46.335699, 5e-7);
  const auto buffers = run.model->named_buffers();
  EXPECT_NEAR(element(buffers["bn1.running_mean"], 0), 0.00066248, 5e-9);
  EXPECT_NEAR(element(buffers["bn1.running_var"], 0), 1.60485543, 5e-9);
  EXPECT_EQ(element(buffers["bn1.num_batches_tracked"], 0), 1);
}

TEST(ResNet50, GivesTheGoldenLogitsLossAndGradient) {
  const auto run = run_golden("resnet50");
  EXPECT_NEAR(element(run.logits, 0), 0.05899877, 5e-9);
  EXPECT_NEAR(element(run.logits, 1), -0.21734717, 5e-9);
  EXPECT_NEAR(element(run.logits, 2), -0.24159837, 5e-9);
  EXPECT_NEAR(run.logits.sum().item<double>(), 0.4117103, 5e-8);
  EXPECT_NEAR(run.loss.item<double>(), 2.28157568, 5e-9);
  EXPECT_NEAR(gradient_norm(*run.model), 19050.784145, 5e-6);
}

TEST(ResNet8, EveryParameterLearnsInBothForms) {
  for (const bool projection : {false, true}) {
    const auto model = must_make({.name = "resnet8", .projection_shortcut = projection});
    const auto logits = model->forward(sines({4, 3, 16, 16}));
    ASSERT_EQ(logits.sizes(), at::IntArrayRef({4, 10}));
    cross_entropy(logits, at::tensor({0, 1, 2, 3}, at::kLong)).backward();
    for (const auto& item : model->named_parameters())
      EXPECT_GT(item.value().grad().abs().max().item<double>(), 0) << item.key();
  }
}

TEST(ResNet8, ZeroPaddingCarriesTheInputAroundASilentBranch) {
  // With the last norm of the block at 0 only the way around is left: every second pixel, new channels zero on both
  // sides.
  const auto block = std::make_shared<BasicBlock>(
      BlockShape{.in_channels = 2, .width = 4, .stride = 2, .shortcut = ShortcutKind::zero_padding});
  {
    const at::NoGradGuard no_grad;
    for (auto parameter : block->parameters()) parameter.fill_(0);
  }
  const auto input = at::arange(1, 33, at::kFloat).view({1, 2, 4, 4});
  const auto output = block->forward(input);
  ASSERT_EQ(output.sizes(), at::IntArrayRef({1, 4, 2, 2}));
  EXPECT_TRUE(output.select(1, 0).eq(0).all().item<bool>());
  EXPECT_TRUE(output.select(1, 3).eq(0).all().item<bool>());
  EXPECT_TRUE(output[0][1].equal(at::tensor({1.F, 3.F, 9.F, 11.F}).view({2, 2})));
  EXPECT_TRUE(output[0][2].equal(at::tensor({17.F, 19.F, 25.F, 27.F}).view({2, 2})));
}

TEST(ResNet18, EvaluationUsesAndKeepsTheRunningStatistics) {
  const auto model = must_make({.name = "resnet18", .out_channels = 10, .small_stem = true});
  model->eval();
  const at::NoGradGuard no_grad;
  const auto two = sines({2, 3, 16, 16});
  const auto together = model->forward(two), alone = model->forward(two.slice(0, 0, 1));
  EXPECT_TRUE(at::allclose(together.slice(0, 0, 1), alone, 1e-4, 1e-5)) << "samples do not see each other";
  EXPECT_EQ(element(model->named_buffers()["bn1.num_batches_tracked"], 0), 0);
}

TEST(BatchNorm, AReplacedComputationServesTrainingOnly) {
  const auto model = must_make({.name = "resnet8"});
  int calls = 0;
  const auto count = compute_batch_norms_by(*model, [&](const torch::Tensor& input, const BatchNormState& state) {
    ++calls;
    EXPECT_EQ(state.running_mean.size(0), input.size(1));
    return input.mul(state.weight.view({1, -1, 1, 1}));
  });
  EXPECT_EQ(count, 7U);
  (void)model->forward(sines({1, 3, 8, 8}));
  EXPECT_EQ(calls, 7);
  model->eval();
  (void)model->forward(sines({1, 3, 8, 8}));
  EXPECT_EQ(calls, 7);
  model->train();
  compute_batch_norms_by(*model, {});
  (void)model->forward(sines({2, 3, 8, 8}));
  EXPECT_EQ(calls, 7);
}

TEST(ResNet20, KeepsTheLayoutChannelsLast) {
  const auto model = must_make({.name = "resnet20", .projection_shortcut = true});
  const auto input = sines({2, 3, 16, 16});
  const auto plain = model->forward(input);
  {
    const at::NoGradGuard no_grad;
    for (auto parameter : model->parameters())
      if (parameter.dim() == 4) parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
  }
  const auto last = model->forward(input.contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(at::allclose(plain, last, 1e-3, 1e-4));
}

}  // namespace
}  // namespace gradwatt::training
