#include "gradwatt/training/models/resnet.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "gradwatt/training/models/initialization.hpp"

namespace gradwatt::training {
namespace {

ConvolutionShape stem_shape(const ResNetShape& shape) {
  ConvolutionShape stem{
      .in_channels = shape.in_channels, .out_channels = shape.first_width, .kernel = 7, .stride = 2, .padding = 3};
  if (shape.small_stem) stem.kernel = 3, stem.stride = 1, stem.padding = 1;
  return stem;
}

std::shared_ptr<ResidualBlock> make_block(bool bottleneck, const BlockShape& shape) {
  if (bottleneck) return std::make_shared<Bottleneck>(shape);
  return std::make_shared<BasicBlock>(shape);
}

}  // namespace

ResNet::ResNet(const ResNetShape& shape)
    : small_stem_(shape.small_stem), zero_init_residual_(shape.zero_init_residual) {
  stem_.convolution_name = "conv1";
  stem_.norm_name = "bn1";
  stem_.convolution = register_module("conv1", std::make_shared<Convolution>(stem_shape(shape)));
  stem_.norm = register_module("bn1", std::make_shared<BatchNorm>(shape.first_width));
  auto channels = shape.first_width;
  for (std::size_t i = 0; i < shape.blocks.size(); ++i) add_stage(shape, i, channels);
  head_ = register_module("fc", std::make_shared<Linear>(channels, shape.classes));
}

void ResNet::add_stage(const ResNetShape& shape, std::size_t number, std::int64_t& channels) {
  Stage stage{fmt::format("layer{}", number + 1), {}};
  const auto parent = register_module(stage.name, std::make_shared<torch::nn::Module>());
  for (std::int64_t i = 0; i < shape.blocks[number]; ++i) {
    const BlockShape block{.in_channels = channels,
                           .width = shape.first_width << number,
                           .stride = number > 0 && i == 0 ? 2 : 1,
                           .shortcut = shape.shortcut};
    stage.blocks.push_back(parent->register_module(std::to_string(i), make_block(shape.bottleneck, block)));
    channels = stage.blocks.back()->out_channels();
  }
  stages_.push_back(std::move(stage));
}

torch::Tensor ResNet::forward(torch::Tensor input) {
  auto x = stem_.forward(input).relu_();
  if (!small_stem_) x = at::max_pool2d(x, /*kernel_size=*/3, /*stride=*/2, /*padding=*/1);
  for (const auto& stage : stages_)
    for (const auto& block : stage.blocks) x = block->forward(x);
  return head_->forward(at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
}

void ResNet::initialize(at::Generator& random) {
  for (const auto& module : modules())
    if (auto* convolution = module->as<Convolution>()) kaiming_normal_fan_out(convolution->weight, random);
  uniform_fan_in(head_->weight, head_->bias, random);
  reset_norms(*this);
  if (!zero_init_residual_) return;
  const at::NoGradGuard no_grad;
  for (const auto& stage : stages_)
    for (const auto& block : stage.blocks) block->last_norm().weight.fill_(0);
}

std::vector<LayerLine> ResNet::list_layers(const Shape& input) const {
  LayerList lines;
  auto shape = stem_.list(lines, "", input);
  if (!small_stem_)
    shape =
        lines.add({"maxpool", "max pool 3x3/2", {shape[0], windows(shape[1], 3, 2, 1), windows(shape[2], 3, 2, 1)}});
  for (const auto& stage : stages_)
    for (std::size_t i = 0; i < stage.blocks.size(); ++i)
      shape = stage.blocks[i]->list(lines, fmt::format("{}.{}.", stage.name, i), shape);
  shape = lines.add({"avgpool", "average pool", {shape[0]}});
  lines.add("fc", *head_, shape);
  return lines.take();
}

}  // namespace gradwatt::training
