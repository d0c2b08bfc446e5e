// Results of the Fourier networks against values from an independent implementation of the reference model.
#include "gradwatt/training/models/afno.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>

#include "gradwatt/training/models/golden_fill.hpp"
#include "gradwatt/training/models/loss.hpp"

namespace gradwatt::training {
namespace {

using testing::ElementsAre;

ModelSpec golden_spec() {
  return {.name = "afno-tiny", .height = 8, .width = 16, .patch = 2, .embed = 8, .depth = 2, .blocks = 2};
}

std::shared_ptr<Model> golden_model(ModelSpec spec = golden_spec()) {
  at::set_num_threads(1);
  auto model = must_make(spec);
  fill_sines(model->parameters(), 0.1);
  return model;
}

torch::Tensor golden_target() {
  return filled({1, 3, 8, 16}, at::kFloat, [](auto i) { return std::cos(0.1 * static_cast<double>(i)); });
}

ModeSelection modes_of(std::int64_t rows, std::int64_t columns, double fraction, bool corrected = false) {
  return ModeSelection::make(rows, columns, fraction, corrected).value();
}

/// Indices of rows (dimension 1) or columns (2) of a spectrum that hold anything.
std::vector<std::int64_t> support(const torch::Tensor& spectrum, std::int64_t dimension) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < spectrum.size(dimension); ++i)
    if (spectrum.select(dimension, i).abs().max().item<double>() > 1e-5) found.push_back(i);
  return found;
}

TEST(AfnoTiny, GivesTheGoldenField) {
  const auto model = golden_model();
  EXPECT_EQ(count_parameters(*model), 1960);
  const auto output = model->forward(sines({1, 3, 8, 16}));
  ASSERT_EQ(output.sizes(), at::IntArrayRef({1, 3, 8, 16}));
  EXPECT_NEAR(output.sum().item<double>(), -0.4030554, 2e-6);
  EXPECT_NEAR(output.norm().item<double>(), 0.9742511, 5e-7);
  const double first[] = {-0.0845835, -0.1553506, -0.0455933, -0.0931896, 0.0215908};
  for (std::int64_t i = 0; i < 5; ++i) EXPECT_NEAR(element(output, i), first[i], 2e-7);
  EXPECT_NEAR(element(output, 3 * 8 * 16 - 1), 0.0168063, 2e-7);
}

TEST(AfnoTiny, GivesTheGoldenFieldWithHalfTheModes) {
  auto spec = golden_spec();
  spec.kept_modes = 0.5;
  const auto output = golden_model(spec)->forward(sines({1, 3, 8, 16}));
  EXPECT_NEAR(output.sum().item<double>(), -0.3391804, 2e-6);
  EXPECT_NEAR(output.norm().item<double>(), 0.9161396, 5e-7);
  const double first[] = {-0.0522883, -0.1112662, -0.0723025};
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_NEAR(element(output, i), first[i], 2e-7);
}

TEST(AfnoTiny, GivesTheGoldenLossesAndGradient) {
  const auto model = golden_model();
  const auto input = sines({1, 3, 8, 16}), target = golden_target();
  const auto loss = relative_l2(model->forward(input), target);
  EXPECT_NEAR(loss.item<double>(), 1.0014888, 5e-7);
  loss.backward();
  EXPECT_NEAR(gradient_norm(*model), 0.0948805, 2e-7);
  const torch::Tensor targets[] = {target, target};
  EXPECT_NEAR(roll_out_loss(*model, input, targets).item<double>(), 2.0033951, 1e-6);
}

TEST(AfnoTiny, OnlyTheFinalNormHasNoGradient) {
  const auto model = golden_model();
  relative_l2(model->forward(sines({1, 3, 8, 16})), golden_target()).backward();
  std::vector<std::string> unused;
  for (const auto& item : model->named_parameters())
    if (!item.value().grad().defined()) unused.push_back(item.key());
  EXPECT_THAT(unused, ElementsAre("norm.weight", "norm.bias"));
  EXPECT_EQ(unused, model->unused_parameters());
}

TEST(AfnoTiny, ParametersStandInTheOrderOfTheReference) {
  std::vector<std::string> names;
  for (const auto& item : golden_model()->named_parameters()) names.push_back(item.key());
  names.resize(15);
  EXPECT_THAT(names, ElementsAre("pos_embed", "patch_embed.proj.weight", "patch_embed.proj.bias",
                                 "blocks.0.norm1.weight", "blocks.0.norm1.bias", "blocks.0.filter.w1",
                                 "blocks.0.filter.b1", "blocks.0.filter.w2", "blocks.0.filter.b2",
                                 "blocks.0.norm2.weight", "blocks.0.norm2.bias", "blocks.0.mlp.fc1.weight",
                                 "blocks.0.mlp.fc1.bias", "blocks.0.mlp.fc2.weight", "blocks.0.mlp.fc2.bias"));
}

TEST(AfnoTiny, TwoStepsThroughTheModelGiveTheGradientOfTheirSum) {
  // Finite difference along one direction, in double precision.
  auto spec = golden_spec();
  spec.corrected_modes = true;
  const auto model = golden_model(spec);
  model->to(at::kDouble);
  const auto input = sines({1, 3, 8, 16}).to(at::kDouble);
  const torch::Tensor targets[] = {golden_target().to(at::kDouble), golden_target().to(at::kDouble)};
  roll_out_loss(*model, input, targets).backward();
  const auto parameters = model->named_parameters();
  for (const auto* name : {"blocks.0.filter.w1", "blocks.1.filter.b2", "blocks.0.mlp.fc1.weight", "pos_embed"}) {
    const auto direction = filled(parameters[name].sizes().vec(), at::kDouble, [](auto i) { return weyl(i); });
    const double slope = parameters[name].grad().mul(direction).sum().item<double>();
    const at::NoGradGuard no_grad;
    constexpr double kStep = 1e-6;
    auto parameter = parameters[name];
    parameter.add_(direction, kStep);
    const double above = roll_out_loss(*model, input, targets).item<double>();
    parameter.sub_(direction, 2 * kStep);
    const double below = roll_out_loss(*model, input, targets).item<double>();
    parameter.add_(direction, kStep);
    EXPECT_NEAR((above - below) / (2 * kStep), slope, 1e-5 * std::abs(slope) + 1e-9) << name;
  }
}

TEST(AfnoFilter, GivesTheGoldenValuesAlone) {
  const auto filter = std::make_shared<AfnoFilter>(8, 2, modes_of(4, 8, 1));
  fill_sines(filter->parameters(), 0.5);
  const auto output = filter->forward(sines({1, 4, 8, 8}));
  EXPECT_NEAR(output.sum().item<double>(), -3.3795940, 2e-5);
  EXPECT_NEAR(output.norm().item<double>(), 12.2637471, 5e-6);
  const double first[] = {-0.6863670, 0.4310805, 1.2741175, 1.1009729};
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(element(output, i), first[i], 5e-7);
}

torch::Tensor spectrum_of_what_is_added(double fraction, bool corrected) {
  const auto filter = std::make_shared<AfnoFilter>(8, 2, modes_of(8, 16, fraction, corrected));
  fill_sines(filter->parameters(), 0.5);
  const auto input = sines({1, 8, 16, 8});
  return at::fft_rfft2(filter->forward(input).sub(input).detach(), c10::OptionalIntArrayRef(), {1, 2}, "ortho");
}

TEST(AfnoFilter, TouchesTheModesOfTheReference) {
  const auto all = spectrum_of_what_is_added(1, false);
  EXPECT_THAT(support(all, 1), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(support(all, 2), ElementsAre(0, 1, 2, 3, 4)) << "4 of 9 columns are lost at fraction 1";
  const auto half = spectrum_of_what_is_added(0.5, false);
  EXPECT_THAT(support(half, 1), ElementsAre(2, 3, 4, 5, 6)) << "rows around Nyquist, column 0 mirrored";
  EXPECT_THAT(support(half, 2), ElementsAre(0, 1));
}

TEST(AfnoFilter, CorrectedTouchesTheLowModesOfBothAxes) {
  const auto all = spectrum_of_what_is_added(1, true);
  EXPECT_EQ(support(all, 1).size(), 8U);
  EXPECT_EQ(support(all, 2).size(), 9U);
  const auto half = spectrum_of_what_is_added(0.5, true);
  EXPECT_THAT(support(half, 1), ElementsAre(0, 1, 7)) << "frequencies 0, 1 and −1";
  EXPECT_THAT(support(half, 2), ElementsAre(0, 1, 2, 3));
}

TEST(AfnoFilter, ComputesInSinglePrecisionUnderAutocast) {
  const auto filter = std::make_shared<AfnoFilter>(8, 2, modes_of(4, 8, 1));
  fill_sines(filter->parameters(), 0.5);
  const auto input = sines({1, 4, 8, 8}).to(at::kBFloat16);
  const auto exact = filter->forward(input.to(at::kFloat)).to(at::kBFloat16);
  at::autocast::set_cpu_enabled(true);
  const auto under_autocast = filter->forward(input);
  at::autocast::clear_cache();
  at::autocast::set_cpu_enabled(false);
  EXPECT_EQ(under_autocast.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(under_autocast.equal(exact));
}

TEST(ModeSelection, CountsWhatItKeeps) {
  const auto era5 = modes_of(90, 180, 1);
  EXPECT_EQ(era5.kept_rows(), 90);
  EXPECT_EQ(era5.kept_columns(), 46);
  EXPECT_EQ(era5.half_columns(), 91);
  const auto half = modes_of(8, 16, 0.5);
  EXPECT_EQ(half.kept_rows(), 4);
  EXPECT_EQ(half.kept_columns(), 2);
  const auto corrected = modes_of(90, 180, 1, true);
  EXPECT_EQ(corrected.kept_rows(), 90);
  EXPECT_EQ(corrected.kept_columns(), 91);
  EXPECT_FALSE(ModeSelection::make(8, 16, 0.1, false));
}

TEST(ModeSelection, ScatterPutsBackWhatGatherTook) {
  const auto spectrum = at::fft_rfft2(sines({2, 7, 10, 3}), c10::OptionalIntArrayRef(), {1, 2}, "ortho");
  for (const bool corrected : {false, true})
    for (const double fraction : {0.3, 0.5, 0.75, 1.0}) {
      const auto modes = modes_of(7, 10, fraction, corrected);
      const auto kept = modes.gather(spectrum);
      EXPECT_EQ(kept.size(1), modes.kept_rows());
      EXPECT_EQ(kept.size(2), modes.kept_columns());
      const auto back = modes.scatter(kept);
      ASSERT_EQ(back.sizes(), spectrum.sizes());
      EXPECT_TRUE(modes.gather(back).equal(kept));
      EXPECT_NEAR(back.abs().sum().item<double>(), kept.abs().sum().item<double>(), 1e-3);
    }
}

TEST(AfnoTiny, AResidualModelBeginsAsPersistenceAndLearnsFromThere) {
  const ModelSpec spec{.name = "afno-tiny",
                       .in_channels = 2,
                       .height = 8,
                       .width = 16,
                       .patch = 2,
                       .embed = 8,
                       .depth = 1,
                       .blocks = 2,
                       .residual = true};
  const auto model = make_model(spec, 1).value();
  const auto input = sines({3, 2, 8, 16});
  EXPECT_TRUE(model->forward(input).equal(input));
  relative_l2(model->forward(input), input.roll(1, 3)).backward();
  for (const auto* name : {"skip", "head.weight"})
    EXPECT_GT(model->named_parameters()[name].grad().abs().sum().item<double>(), 0) << name;
}

TEST(AfnoTiny, FieldsWithOddNumbersOfTokensKeepTheirSize) {
  for (const bool corrected : {false, true}) {
    ModelSpec spec{.name = "afno-tiny",
                   .in_channels = 2,
                   .height = 10,
                   .width = 18,
                   .patch = 2,
                   .embed = 8,
                   .depth = 1,
                   .blocks = 2};
    spec.corrected_modes = corrected;
    EXPECT_EQ(must_make(spec)->forward(sines({3, 2, 10, 18})).sizes(), at::IntArrayRef({3, 2, 10, 18}));
  }
}

}  // namespace
}  // namespace gradwatt::training
