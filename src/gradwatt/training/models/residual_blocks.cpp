#include "gradwatt/training/models/residual_blocks.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

namespace gradwatt::training {

Shape NormedConvolution::list(LayerList& lines, const std::string& prefix, const Shape& input) const {
  return lines.add(prefix + norm_name, *norm, lines.add(prefix + convolution_name, *convolution, input));
}

void ResidualBlock::add_pair(const ConvolutionShape& shape) {
  const auto number = pairs_.size() + 1;
  NormedConvolution pair{fmt::format("conv{}", number), fmt::format("bn{}", number), nullptr, nullptr};
  pair.convolution = register_module(pair.convolution_name, std::make_shared<Convolution>(shape));
  pair.norm = register_module(pair.norm_name, std::make_shared<BatchNorm>(shape.out_channels));
  pairs_.push_back(std::move(pair));
}

void ResidualBlock::add_shortcut(const BlockShape& shape) {
  stride_ = shape.stride;
  if (shape.stride == 1 && shape.in_channels == out_channels()) return;
  if (shape.shortcut == ShortcutKind::zero_padding) {
    padded_channels_ = out_channels() - shape.in_channels;
    return;
  }
  const auto downsample = register_module("downsample", std::make_shared<torch::nn::Module>());
  NormedConvolution pair{"downsample.0", "downsample.1", nullptr, nullptr};
  pair.convolution = downsample->register_module(
      "0", std::make_shared<Convolution>(ConvolutionShape{
               .in_channels = shape.in_channels, .out_channels = out_channels(), .kernel = 1, .stride = shape.stride}));
  pair.norm = downsample->register_module("1", std::make_shared<BatchNorm>(out_channels()));
  projection_.push_back(std::move(pair));
}

torch::Tensor ResidualBlock::way_around(const torch::Tensor& input) {
  if (!projection_.empty()) return projection_.front().forward(input);
  if (padded_channels_ == 0 && stride_ == 1) return input;
  const auto thinned = input.slice(2, 0, input.size(2), stride_).slice(3, 0, input.size(3), stride_);
  const auto before = padded_channels_ / 2;
  return at::constant_pad_nd(thinned, {0, 0, 0, 0, before, padded_channels_ - before});
}

torch::Tensor ResidualBlock::forward(const torch::Tensor& input) {
  auto output = input;
  for (std::size_t i = 0; i + 1 < pairs_.size(); ++i) output = pairs_[i].forward(output).relu_();
  return pairs_.back().forward(output).add_(way_around(input)).relu_();
}

Shape ResidualBlock::list(LayerList& lines, const std::string& prefix, const Shape& input) const {
  auto output = input;
  for (const auto& pair : pairs_) output = pair.list(lines, prefix, output);
  for (const auto& pair : projection_) (void)pair.list(lines, prefix, input);
  if (padded_channels_ > 0) lines.add({prefix + "shortcut", "zero padding", output, 0, 0});
  return output;
}

BasicBlock::BasicBlock(const BlockShape& s) {
  add_pair({.in_channels = s.in_channels, .out_channels = s.width, .kernel = 3, .stride = s.stride, .padding = 1});
  add_pair({.in_channels = s.width, .out_channels = s.width, .kernel = 3, .padding = 1});
  add_shortcut(s);
}

Bottleneck::Bottleneck(const BlockShape& s) {
  add_pair({.in_channels = s.in_channels, .out_channels = s.width, .kernel = 1});
  add_pair({.in_channels = s.width, .out_channels = s.width, .kernel = 3, .stride = s.stride, .padding = 1});
  add_pair({.in_channels = s.width, .out_channels = s.width * kExpansion, .kernel = 1});
  add_shortcut(s);
}

}  // namespace gradwatt::training
