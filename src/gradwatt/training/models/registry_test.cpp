#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <cmath>

#include "gradwatt/training/models/golden_fill.hpp"
#include "gradwatt/training/models/model.hpp"

namespace gradwatt::training {
namespace {

using testing::AllOf;
using testing::HasSubstr;

core::Error refusal(const ModelSpec& spec) {
  const auto model = make_model(spec, 1);
  EXPECT_FALSE(model) << spec.name;
  return model ? core::Error{} : model.error();
}

torch::Tensor parameter(const Model& model, const std::string& name) { return model.named_parameters()[name].detach(); }

double deviation(const torch::Tensor& tensor) { return tensor.to(at::kDouble).std().item<double>(); }
double largest(const torch::Tensor& tensor) { return tensor.abs().max().item<double>(); }

TEST(Registry, NamesTheModelsOfRecipes) {
  EXPECT_THAT(model_names(),
              testing::ElementsAre("resnet8", "resnet20", "resnet18", "resnet50", "fourcastnet", "afno-tiny"));
}

TEST(Registry, AMistypedNameGetsTheNearestOne) {
  const auto error = refusal({.name = "resnet51"});
  EXPECT_EQ(error.code, core::Errc::wrong_use);
  EXPECT_THAT(error.message, HasSubstr("did you mean \"resnet50\""));
  EXPECT_THAT(refusal({.name = "transformer"}).message, HasSubstr("resnet8, resnet20, resnet18"));
}

TEST(Registry, SizesThatDoNotDivideAreRefusedByName) {
  EXPECT_THAT(refusal({.name = "afno-tiny", .height = 60}).message,
              AllOf(HasSubstr("patch 8"), HasSubstr("height 60")));
  EXPECT_THAT(refusal({.name = "afno-tiny", .width = 129}).message,
              AllOf(HasSubstr("patch 8"), HasSubstr("width 129")));
  EXPECT_THAT(refusal({.name = "afno-tiny", .embed = 66}).message, AllOf(HasSubstr("blocks 4"), HasSubstr("embed 66")));
}

TEST(Registry, SizesThatAreNoSizesAreRefusedByName) {
  EXPECT_THAT(refusal({.name = "resnet8", .in_channels = -1}).message, HasSubstr("in_channels = -1"));
  EXPECT_THAT(refusal({.name = "resnet8", .out_channels = std::int64_t{1} << 40}).message, HasSubstr("out_channels"));
  EXPECT_THAT(refusal({.name = "afno-tiny", .depth = -2}).message, HasSubstr("depth = -2"));
}

TEST(Registry, AResidualModelGivesTheChannelsThatItGets) {
  const ModelSpec spec{.name = "afno-tiny", .in_channels = 3, .out_channels = 2, .residual = true};
  EXPECT_THAT(refusal(spec).message, HasSubstr("residual"));
}

TEST(Registry, AShareOfModesMustKeepSome) {
  for (const double share : {0.0, -0.5, 1.5, std::nan("")})
    EXPECT_THAT(refusal({.name = "afno-tiny", .kept_modes = share}).message, HasSubstr("is not a share"));
  EXPECT_THAT(refusal({.name = "afno-tiny", .kept_modes = 0.01}).message, HasSubstr("keeps no mode of 8x16"));
}

TEST(Registry, SizesLargerThanTheMemoryAreAnErrorNotACrash) {
  const auto error =
      refusal({.name = "afno-tiny", .height = 1 << 20, .width = 1 << 20, .patch = 1, .embed = 1 << 20, .blocks = 1});
  EXPECT_EQ(error.code, core::Errc::wrong_use);
  EXPECT_THAT(error.message, HasSubstr("cannot be built with these sizes"));
}

TEST(Registry, WhatAModelDoesNotUseIsIgnored) {
  EXPECT_TRUE(make_model({.name = "resnet8", .patch = -5, .kept_modes = 7}, 1));
}

TEST(Registry, ZeroMeansTheModelsDefault) {
  const auto resnet = complete_spec({.name = "resnet50"});
  ASSERT_TRUE(resnet);
  EXPECT_EQ(resnet->out_channels, 1000);
  EXPECT_EQ(resnet->height, 224);
  EXPECT_EQ(complete_spec({.name = "resnet18", .small_stem = true})->width, 32);
  const auto fields = complete_spec({.name = "fourcastnet", .in_channels = 5});
  EXPECT_EQ(fields->out_channels, 5) << "a field model gives what it gets";
  EXPECT_EQ(fields->width, 1440);
  EXPECT_EQ(fields->embed, 768);
}

TEST(Initialisation, FollowsFromTheSeedAlone) {
  for (const auto* name : {"resnet8", "afno-tiny"}) {
    const auto one = must_make({.name = name}, 7);
    (void)at::rand({5});  // LibTorch's own generator has no part in it
    const auto same = must_make({.name = name}, 7), other = must_make({.name = name}, 8);
    std::size_t differing = 0;
    for (std::size_t i = 0; i < one->parameters().size(); ++i) {
      EXPECT_TRUE(one->parameters()[i].equal(same->parameters()[i]));
      if (!one->parameters()[i].equal(other->parameters()[i])) ++differing;
    }
    EXPECT_GT(differing, 5U);
  }
}

TEST(Initialisation, LeavesLibTorchsOwnGeneratorAlone) {
  const auto before = at::globalContext().defaultGenerator(at::kCPU).get_state();
  (void)must_make({.name = "resnet8"});
  (void)must_make({.name = "afno-tiny"});
  EXPECT_TRUE(before.equal(at::globalContext().defaultGenerator(at::kCPU).get_state()));
}

TEST(Initialisation, OfAResNetIsTorchvisions) {
  const auto model = must_make({.name = "resnet50"});
  EXPECT_NEAR(deviation(parameter(*model, "conv1.weight")), 0.025254, 0.0008);
  EXPECT_NEAR(deviation(parameter(*model, "layer1.0.conv2.weight")), 0.058926, 0.0010);
  const auto fc = parameter(*model, "fc.weight");
  EXPECT_LE(largest(fc), 0.0220971);
  EXPECT_NEAR(largest(fc), 0.0220971, 1e-5);
  EXPECT_NEAR(deviation(fc), 0.0220971 / std::sqrt(3.0), 2e-5);
  EXPECT_LE(largest(parameter(*model, "fc.bias")), 0.0220971);
  EXPECT_GT(deviation(parameter(*model, "fc.bias")), 0.01);
  for (const auto& item : model->named_parameters()) {
    if (item.key().find("bn") == std::string::npos && item.key().find("downsample.1") == std::string::npos) continue;
    const double expected = item.key().ends_with("weight") ? 1 : 0;
    EXPECT_TRUE(item.value().eq(expected).all().item<bool>()) << item.key();
  }
}

TEST(Initialisation, ZeroInitSilencesTheLastNormOfEachBlock) {
  const auto model = must_make({.name = "resnet50", .zero_init_residual = true});
  std::int64_t zeros = 0;
  for (const auto& item : model->named_parameters())
    if (item.key().ends_with("bn3.weight")) zeros += item.value().eq(0).sum().item<std::int64_t>();
  EXPECT_EQ(zeros, 15'104);
  EXPECT_TRUE(parameter(*model, "layer1.0.bn2.weight").eq(1).all().item<bool>());
}

TEST(Initialisation, OfAnAfnoIsTheReferences) {
  const auto model = must_make({.name = "afno-tiny"});
  for (const auto* name :
       {"pos_embed", "blocks.0.filter.w1", "blocks.3.filter.w2", "blocks.1.mlp.fc1.weight", "head.weight"})
    EXPECT_NEAR(deviation(parameter(*model, name)), 0.02, 0.001) << name;
  EXPECT_NEAR(deviation(parameter(*model, "blocks.0.filter.b1")), 0.02, 0.006);
  EXPECT_EQ(largest(parameter(*model, "blocks.2.mlp.fc2.bias")), 0);
  const double bound = 1 / std::sqrt(3.0 * 8 * 8);
  EXPECT_NEAR(largest(parameter(*model, "patch_embed.proj.weight")), bound, 1e-3);
  EXPECT_LE(largest(parameter(*model, "patch_embed.proj.bias")), bound);
  EXPECT_TRUE(parameter(*model, "blocks.0.norm1.weight").eq(1).all().item<bool>());
  EXPECT_FALSE(model->named_parameters().contains("head.bias"));
}

}  // namespace
}  // namespace gradwatt::training
